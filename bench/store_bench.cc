#include "bench/store_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "bench/memory_use.h"
#include "bench/workload.h"
#include "core/try.h"

namespace skein::bench {
namespace {

constexpr std::size_t kRounds = 3;
constexpr std::size_t kWriters = 64;

class StoreBench {
 public:
  explicit StoreBench(const BenchOptions& options) : options_(options) {}

  Result<void> memory();
  Result<void> appends();
  Result<void> many_threads();
  Result<void> jsonl();
  Result<void> load();
  Result<void> lookup();

  std::vector<Row> rows;

 private:
  std::string path(const std::string& name) const { return options_.folder + "/" + name; }
  std::size_t scaled(std::size_t count) const { return options_.quick ? count / 10 : count; }
  void say(std::string_view doing) const { options_.say(doing); }
  Result<std::unique_ptr<Store>> open(const std::string& url, bool flush = true) const {
    StoreOptions options;
    options.unsafe_no_flush = !flush;
    return open_store(url, options);
  }
  // A store with that many threads, made without flushing.
  Result<std::vector<ThreadId>> prepare(const std::string& url, std::size_t threads,
                                        std::size_t agents) const;
  Result<void> load_one(const std::string& name, const std::string& scheme, std::size_t threads,
                        double goal);

  const BenchOptions& options_;
};

Result<std::vector<ThreadId>> StoreBench::prepare(const std::string& url, std::size_t threads,
                                                  std::size_t agents) const {
  say(fmt::format("making {} threads in {}", threads, url));
  SKEIN_ASSIGN(const auto store, open(url, false));
  std::vector<ThreadId> all;
  for (std::size_t agent = 0; agent < agents; ++agent) {
    SKEIN_ASSIGN(const auto ids,
                 create_threads(*store, fmt::format("agent-{}", agent), threads / agents));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

Result<void> StoreBench::memory() {
  const std::size_t events = scaled(1'000'000);
  say(fmt::format("appending {} events and reading them, in a process of its own", events));
  SKEIN_ASSIGN(const MemoryUse use, measure_memory("sqlite:" + path("memory.db"), events));
  rows.push_back({fmt::format("memory for {} events appended and read, SQLite", events),
                  fmt::format("{:.0f} MB at the peak", use.peak_mb),
                  fmt::format("{:.0f} MB after the first tenth", use.early_mb), use.peak_mb, 100,
                  true, "MB"});
  return {};
}

Result<void> StoreBench::appends() {
  const std::string file = path("appends.db");
  const std::string loop_file = path("loop.db");
  SKEIN_ASSIGN(const auto threads, prepare("sqlite:" + file, kWriters, 1));
  SKEIN_ASSIGN(const auto loop_threads, prepare("sqlite:" + loop_file, kWriters, 1));
  SKEIN_ASSIGN(const auto store, open("sqlite:" + file));
  const std::size_t few = scaled(3'000);
  const std::size_t many = scaled(64'000);
  std::vector<double> bare, one, all, keyed, loop, tail;
  std::vector<double> one_ratio, all_ratio, keyed_ratio, loop_ratio;
  for (std::size_t round = 0; round < kRounds; ++round) {
    say(fmt::format("durable appends, round {} of {}", round + 1, kRounds));
    SKEIN_ASSIGN(const double bare_rate, bare_loop(path("bare"), few));
    SKEIN_ASSIGN(const auto single, run_appends(*store, threads, {1, few, false, false}));
    SKEIN_ASSIGN(const auto group, run_appends(*store, threads, {kWriters, many, false, false}));
    SKEIN_ASSIGN(const auto with_key, run_appends(*store, threads, {kWriters, many, true, false}));
    SKEIN_ASSIGN(const double loop_rate, sqlite_loop(loop_file, loop_threads, many, 64, false));
    bare.push_back(bare_rate);
    one.push_back(single.rate);
    all.push_back(group.rate);
    keyed.push_back(with_key.rate);
    loop.push_back(loop_rate);
    tail.push_back(group.p99 / group.p50);
    one_ratio.push_back(single.rate / bare_rate);
    all_ratio.push_back(group.rate / bare_rate);
    keyed_ratio.push_back(with_key.rate / bare_rate);
    loop_ratio.push_back(group.rate / loop_rate);
  }
  const std::string bare_text = "bare write + fdatasync " + per_second(median(bare));
  rows.push_back({"append, 1 writer, SQLite", per_second(median(one)), bare_text, median(one_ratio),
                  0.8, false, "×"});
  rows.push_back({"append, 64 writers on 64 threads, SQLite", per_second(median(all)), bare_text,
                  median(all_ratio), 9, false, "×"});
  rows.push_back({"  the same", per_second(median(all)),
                  "one-thread loop, 64 rows a commit " + per_second(median(loop)),
                  median(loop_ratio), 0.7, false, "×"});
  rows.push_back({"  with idempotency keys", per_second(median(keyed)), bare_text,
                  median(keyed_ratio), 6, false, "×"});
  rows.push_back({"  p99 of the 64 writers", "", "their p50", median(tail), 20, true, "×"});
  return {};
}

Result<void> StoreBench::many_threads() {
  const std::string file = path("many.db");
  SKEIN_ASSIGN(const auto threads, prepare("sqlite:" + file, scaled(200'000), 10));
  SKEIN_ASSIGN(const auto store, open("sqlite:" + file));
  std::vector<double> bare, rate, ratio;
  for (std::size_t round = 0; round < kRounds; ++round) {
    say(fmt::format("appends to {} threads at random, round {} of {}", threads.size(), round + 1,
                    kRounds));
    SKEIN_ASSIGN(const double bare_rate, bare_loop(path("bare"), scaled(3'000)));
    SKEIN_ASSIGN(const auto times,
                 run_appends(*store, threads, {kWriters, scaled(64'000), false, true}));
    bare.push_back(bare_rate);
    rate.push_back(times.rate);
    ratio.push_back(times.rate / bare_rate);
  }
  rows.push_back({fmt::format("append over {} threads at random, SQLite", threads.size()),
                  per_second(median(rate)), "bare write + fdatasync " + per_second(median(bare)),
                  median(ratio), 4, false, "×"});
  return {};
}

Result<void> StoreBench::jsonl() {
  const std::string folder = path("jsonl");
  SKEIN_ASSIGN(const auto store, open("jsonl:" + folder));
  SKEIN_ASSIGN(const auto threads, create_threads(*store, "bench", kWriters));
  // Short rounds, and many: how fast the disk flushes changes from second to second.
  constexpr std::size_t kShortRounds = 5 * kRounds;
  const std::size_t many = scaled(10'000);
  std::vector<double> bare, rate, ratio;
  for (std::size_t round = 0; round < kShortRounds; ++round) {
    say(fmt::format("JSONL appends, round {} of {}", round + 1, kShortRounds));
    SKEIN_ASSIGN(const double bare_rate, bare_parallel_loops(options_.folder, kWriters, many));
    SKEIN_ASSIGN(const auto times, run_appends(*store, threads, {kWriters, many, false, false}));
    bare.push_back(bare_rate);
    rate.push_back(times.rate);
    ratio.push_back(times.rate / bare_rate);
  }
  rows.push_back({"append, 64 writers on 64 threads, JSONL", per_second(median(rate)),
                  "64 bare loops on 64 files " + per_second(median(bare)), median(ratio), 0.7,
                  false, "×"});
  return {};
}

// One thread of 10,000 events, written in one go or in turns with other threads.
Result<void> StoreBench::load_one(const std::string& name, const std::string& scheme,
                                  std::size_t threads, double goal) {
  constexpr std::size_t kEvents = 10'000;
  say(fmt::format("loading {} events, {}", kEvents, name));
  SKEIN_ASSIGN(const auto store, open(scheme + path(fmt::format("load-{}", rows.size())), false));
  SKEIN_ASSIGN(const auto ids, create_threads(*store, "bench", threads));
  std::size_t bytes = 0;
  std::vector<Append> batch;
  for (std::size_t i = 0; i < kEvents; ++i) {
    bytes += sample_line(i).size();
    for (const ThreadId id : ids) batch.push_back({id, sample_event(i), {}, {}});
    if (batch.size() < 1000 && i + 1 < kEvents) continue;
    for (const auto& answer : store->append(batch)) SKEIN_TRY(answer);
    batch.clear();
  }
  // The best of many: nothing but other work on the machine can make a load slower.
  double best = 0;
  for (std::size_t round = 0; round < 20 * kRounds; ++round) {
    std::vector<Event> events;
    events.reserve(kEvents);
    const Stopwatch watch;
    SKEIN_TRY(store->read(ids[0], {}, [&events](Event& event) {
      events.push_back(std::move(event));
      return true;
    }));
    if (events.size() != kEvents) return fail(ErrorCode::kDamaged, "events are missing");
    best = std::max(best, static_cast<double>(bytes) / watch.seconds());
  }
  rows.push_back({"load a thread of 10,000 events, " + name, megabytes_per_second(best),
                  "best of 60", best / 1e6, goal, false, "MB/s"});
  return {};
}

Result<void> StoreBench::load() {
  SKEIN_TRY(load_one("JSONL", "jsonl:", 1, 300));
  SKEIN_TRY(load_one("SQLite", "sqlite:", 1, 300));
  return load_one("SQLite, among 63 others", "sqlite:", 64, 120);
}

Result<void> StoreBench::lookup() {
  const std::size_t counts[2] = {scaled(10'000), scaled(1'000'000)};
  std::vector<ThreadId> ids[2];
  std::unique_ptr<Store> stores[2];
  for (const std::size_t i : {0, 1}) {
    const std::string url = "sqlite:" + path(fmt::format("lookup-{}.db", counts[i]));
    SKEIN_ASSIGN(ids[i], prepare(url, counts[i], 10));
    SKEIN_ASSIGN(stores[i], open(url));
  }
  say("looking up threads");
  std::mt19937_64 random(1);
  std::vector<double> get[2], list[2];
  ListQuery query;
  for (std::size_t round = 0; round < 5 * kRounds; ++round) {
    for (const std::size_t i : {0, 1}) {
      constexpr std::size_t kGets = 1000;
      constexpr std::size_t kLists = 20;
      const Stopwatch getting;
      for (std::size_t n = 0; n < kGets; ++n) {
        SKEIN_TRY(stores[i]->get(ids[i][random() % ids[i].size()]));
      }
      get[i].push_back(getting.seconds() / kGets);
      const Stopwatch listing;
      for (std::size_t n = 0; n < kLists; ++n) {
        query.agent_id = fmt::format("agent-{}", n % 10);
        SKEIN_TRY(stores[i]->list(query));
      }
      list[i].push_back(listing.seconds() / kLists);
    }
  }
  const auto add = [&](const char* what, const std::vector<double>(&times)[2]) {
    rows.push_back({fmt::format("{} among {} threads, SQLite", what, counts[1]),
                    duration(median(times[1])),
                    fmt::format("among {} {}", counts[0], duration(median(times[0]))),
                    median(times[1]) / median(times[0]), 2, true, "×"});
  };
  add("get by id", get);
  add("newest 50 of an agent", list);
  return {};
}

using Method = Result<void> (StoreBench::*)();

Part part(const char* name, Method method) {
  return {name, [method](const BenchOptions& options, std::vector<Row>& rows) -> Result<void> {
            StoreBench bench(options);
            SKEIN_TRY((bench.*method)());
            rows.insert(rows.end(), bench.rows.begin(), bench.rows.end());
            return {};
          }};
}

}  // namespace

// Memory first: it forks, and wants a process that has not grown yet.
std::span<const Part> store_bench_parts() {
  static const Part kParts[] = {
      part("memory", &StoreBench::memory),     part("append", &StoreBench::appends),
      part("many", &StoreBench::many_threads), part("jsonl", &StoreBench::jsonl),
      part("load", &StoreBench::load),         part("lookup", &StoreBench::lookup)};
  return kParts;
}

}  // namespace skein::bench
