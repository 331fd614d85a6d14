#include "bench/http_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "bench/http_load.h"
#include "bench/workload.h"
#include "core/try.h"
#include "skein/store.h"

namespace skein::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWriters = 64;
constexpr double kMostNeeded = 15'000;  // appends a second
constexpr int kRounds = 3;

std::string append_path(ThreadId thread) { return "/v1/threads/" + thread.str() + "/events"; }

// A workspace with a store in it, as `skein serve` finds it.
struct Place {
  std::string workspace;
  std::string url;
};

Result<Place> make_place(const BenchOptions& options, std::string_view name) {
  Place place;
  place.workspace = fmt::format("{}/{}", options.folder, name);
  std::error_code error;
  std::filesystem::create_directories(place.workspace + "/.skein", error);
  if (error) return fail(ErrorCode::kIo, "cannot make " + place.workspace);
  place.url = fmt::format("sqlite:{}/.skein/skein.db", place.workspace);
  return place;
}

Result<std::vector<ThreadId>> fill(const Place& place, std::size_t threads) {
  SKEIN_ASSIGN(const auto store, open_store(place.url));
  return create_threads(*store, "bench", threads);
}

Result<HttpTimes> append_by_rest(const ServeProcess& serve, const std::vector<ThreadId>& threads,
                                 std::size_t appends) {
  HttpWork work;
  work.port = serve.port();
  work.connections = threads.size();
  work.requests = appends;
  work.expected_status = 201;
  work.request = [&](std::size_t connection, std::size_t number) {
    return http_request("POST", append_path(threads[connection]), to_json(sample_event(number)));
  };
  return run_requests(work);
}

Result<void> measure_appends(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t appends = options.quick ? 10'000 : 60'000;
  std::vector<double> by_store;
  std::vector<double> by_rest;
  double p99 = 0;
  SKEIN_ASSIGN(const Place store_place, make_place(options, "append-store"));
  SKEIN_ASSIGN(const Place rest_place, make_place(options, "append-rest"));
  SKEIN_ASSIGN(const auto store_threads, fill(store_place, kWriters));
  SKEIN_ASSIGN(const auto rest_threads, fill(rest_place, kWriters));
  for (int round = 0; round < kRounds; ++round) {
    options.say("appending to the store");
    {
      SKEIN_ASSIGN(const auto store, open_store(store_place.url));
      SKEIN_ASSIGN(const AppendTimes times,
                   run_appends(*store, store_threads, {.writers = kWriters, .appends = appends}));
      by_store.push_back(times.rate);
    }
    options.say("appending by REST");
    SKEIN_ASSIGN(ServeProcess serve, ServeProcess::start(rest_place.workspace, rest_place.url));
    SKEIN_ASSIGN(const HttpTimes times, append_by_rest(serve, rest_threads, appends));
    by_rest.push_back(times.rate);
    p99 = std::max(p99, times.p99);
    SKEIN_TRY(serve.stop());
  }
  const double store = median(by_store);
  const double rest = median(by_rest);
  rows.push_back({fmt::format("durable append by REST, {} connections", kWriters),
                  fmt::format("{} (p99 {})", per_second(rest), duration(p99)),
                  fmt::format("store, {} writers, {}", kWriters, per_second(store)), rest / store,
                  std::min(0.5, kMostNeeded / store), false, "×"});
  return {};
}

// Appends at a steady pace; the time of each.
Result<std::vector<double>> paced_appends(const ServeProcess& serve, ThreadId thread,
                                          std::size_t count, std::chrono::milliseconds pace) {
  std::vector<double> times;
  auto due = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    std::this_thread::sleep_until(due);
    due += pace;
    HttpWork work;
    work.port = serve.port();
    work.requests = 1;
    work.expected_status = 201;
    work.request = [&](std::size_t, std::size_t) {
      return http_request("POST", append_path(thread), to_json(sample_event(i)));
    };
    SKEIN_ASSIGN(const HttpTimes one, run_requests(work));
    times.push_back(one.p50);
  }
  return times;
}

// Appends without readers, and then with them, to one server.
struct ReadersRound {
  std::vector<double> alone;
  std::vector<double> with;
  std::uint64_t seen = 0;  // by the one that saw least
  std::uint64_t wrong = 0;
  double peak_mb = 0;
};

Result<ReadersRound> readers_round(const BenchOptions& options, const Place& place,
                                   std::size_t readers, std::size_t events) {
  ReadersRound round;
  SKEIN_ASSIGN(const auto threads, fill(place, 2));
  SKEIN_ASSIGN(ServeProcess serve, ServeProcess::start(place.workspace, place.url));
  options.say("appending without readers");
  SKEIN_ASSIGN(round.alone, paced_appends(serve, threads[0], events, 50ms));
  options.say(fmt::format("connecting {} readers", readers));
  SKEIN_ASSIGN(
      const auto all,
      StreamReaders::open(serve.port(), "/v1/threads/" + threads[1].str() + "/stream", readers));
  options.say("appending with them");
  SKEIN_ASSIGN(round.with, paced_appends(serve, threads[1], events, 50ms));
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (all->least() < events && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(10ms);
  }
  round.seen = all->least();
  round.wrong = all->wrong();
  round.peak_mb = serve.peak_mb();
  SKEIN_TRY(serve.stop());
  return round;
}

// Of all rounds together: a disk that hesitates now and then decides a p99 of few.
double p99_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() * 99 / 100];
}

Result<void> measure_readers(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t readers = 2'000;
  const std::size_t events = options.quick ? 60 : 400;
  ReadersRound sum;
  sum.seen = events;
  for (int i = 0; i < kRounds; ++i) {
    SKEIN_ASSIGN(const Place place, make_place(options, fmt::format("readers-{}", i)));
    SKEIN_ASSIGN(const ReadersRound round, readers_round(options, place, readers, events));
    sum.alone.insert(sum.alone.end(), round.alone.begin(), round.alone.end());
    sum.with.insert(sum.with.end(), round.with.begin(), round.with.end());
    sum.seen = std::min(sum.seen, round.seen);
    sum.wrong += round.wrong;
    sum.peak_mb = std::max(sum.peak_mb, round.peak_mb);
  }
  const double seen = static_cast<double>(sum.seen) / static_cast<double>(events);
  rows.push_back({fmt::format("{} readers of one thread, 20 events a second", readers),
                  fmt::format("each saw {} of {}, {} out of order", sum.seen, events, sum.wrong),
                  "all of them", sum.wrong > 0 ? 0 : seen, 1, false, "×"});
  rows.push_back({"memory of the server with them", fmt::format("{:.0f} MB", sum.peak_mb), "",
                  sum.peak_mb, 150, true, "MB"});
  const double alone = p99_of(sum.alone);
  const double with = p99_of(sum.with);
  rows.push_back({"p99 of an append with them", duration(with),
                  "without readers " + duration(alone), with / alone, 2, true, "×"});
  return {};
}

Result<void> measure_idle(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t count = options.quick ? 10'000 : 100'000;
  SKEIN_ASSIGN(const Place place, make_place(options, "idle"));
  options.say(fmt::format("creating {} threads", count));
  SKEIN_TRY(fill(place, count));
  std::vector<double> ready;
  double memory = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Stopwatch watch;
    SKEIN_ASSIGN(ServeProcess serve, ServeProcess::start(place.workspace, place.url));
    SKEIN_TRY(ask_once(serve.port(), http_request("GET", "/readyz", "")));
    ready.push_back(watch.seconds());
    SKEIN_TRY(serve.wait_until_idle());  // whatever it does when it has just started
    memory = std::max(memory, serve.resident_mb());
    SKEIN_TRY(serve.stop());
  }
  rows.push_back({fmt::format("idle server with {} threads: ready", count), duration(median(ready)),
                  "from its start", median(ready) * 1000, 200, true, "ms"});
  rows.push_back({fmt::format("idle server with {} threads: memory", count),
                  fmt::format("{:.1f} MB", memory), "", memory, 40, true, "MB"});
  return {};
}

}  // namespace

std::span<const Part> http_bench_parts() {
  static const Part kParts[] = {
      {"append", measure_appends}, {"readers", measure_readers}, {"idle", measure_idle}};
  return kParts;
}

}  // namespace skein::bench
