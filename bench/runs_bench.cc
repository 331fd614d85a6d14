#include "bench/runs_bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "bench/workload.h"
#include "core/pause.h"
#include "core/try.h"
#include "skein/engines.h"
#include "skein/runner.h"

namespace skein::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAtOnce = 64;
constexpr std::size_t kRunsOfAThread = 20;  // then a new conversation begins
constexpr std::size_t kStreaming = 1000;
constexpr std::size_t kAborts = 200;

// `fast` answers at once; `slow` says a word every so often, for a minute.
class BenchAgents final : public AgentSource {
 public:
  static Result<std::unique_ptr<BenchAgents>> make() {
    SKEIN_ASSIGN(auto engine, make_engine("echo"));
    return std::make_unique<BenchAgents>(std::move(engine));
  }
  explicit BenchAgents(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Result<void> check(std::string_view) override { return {}; }
  Result<PreparedAgent> prepare(const RunScope& scope) override {
    PreparedAgent agent;
    agent.engine = engine_;
    if (scope.agent_id == "slow") {
      agent.options = Json::trusted(R"({"delayMs":200,"repeat":300})");
    }
    return agent;
  }

 private:
  const std::shared_ptr<Engine> engine_;
};

struct Desk {
  std::unique_ptr<Store> store;
  std::unique_ptr<BenchAgents> agents;
  std::unique_ptr<Runner> runner;
};

Result<Desk> open_desk(const BenchOptions& options, std::string_view name) {
  Desk desk;
  SKEIN_ASSIGN(desk.store, open_store(fmt::format("sqlite:{}/{}.db", options.folder, name)));
  SKEIN_ASSIGN(desk.agents, BenchAgents::make());
  desk.runner = std::make_unique<Runner>(*desk.store, *desk.agents);
  return desk;
}

// Until it is so, or for a minute.
bool wait_until(const std::function<bool()>& so) {
  const Stopwatch waiting;
  while (!so()) {
    if (waiting.seconds() > 60) return false;
    pause_for(5ms, {});
  }
  return true;
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

Result<void> measure_throughput(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t runs = options.quick ? 2'000 : 20'000;
  options.say(fmt::format("{} runs, {} at once", runs, kAtOnce));
  SKEIN_ASSIGN(const Desk desk, open_desk(options, "throughput"));
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> done{0};
  const Stopwatch watch;
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      callers.emplace_back([&] {
        std::string thread;
        for (std::size_t mine = 0; begun++ < runs; ++mine) {
          if (mine % kRunsOfAThread == 0) thread.clear();
          const auto outcome = desk.runner->execute(
              run_request("fast", thread, fmt::format("What about number {}, please?", mine)));
          if (!outcome) return;
          thread = outcome->run.thread.str();
          ++done;
        }
      });
    }
  }
  const double rate = static_cast<double>(done) / watch.seconds();
  if (done != runs) return fail(ErrorCode::kDamaged, "some runs failed");
  rows.push_back({.work = fmt::format("runs, {} at once, durable", kAtOnce),
                  .figure = per_second(rate),
                  .against = "",
                  .value = rate,
                  .goal = 1000,
                  .unit = "runs/s"});
  return {};
}

// So many runs that have all begun to speak.
Result<std::vector<std::string>> start_speaking(const Desk& desk, std::size_t count) {
  auto speaking = std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) {
    RunCallbacks callbacks;
    callbacks.on_text = [speaking, first = true](std::string_view) mutable {
      if (std::exchange(first, false)) ++*speaking;
    };
    SKEIN_ASSIGN(const Run run,
                 desk.runner->start(run_request("slow", "", "one two three four five"), callbacks));
    ids.push_back(run.id);
  }
  if (wait_until([&] { return *speaking == count; })) return ids;
  return fail(ErrorCode::kDamaged,
              fmt::format("only {} of {} runs spoke", speaking->load(), count));
}

Result<void> measure_streaming(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t count = options.quick ? kStreaming / 10 : kStreaming;
  options.say(fmt::format("{} runs speak at once", count));
  SKEIN_ASSIGN(const Desk desk, open_desk(options, "streaming"));
  SKEIN_ASSIGN(const auto ids, start_speaking(desk, count));
  pause_for(2s, {});
  const double mb = resident_mb();
  rows.push_back({.work = fmt::format("{} runs streaming at once", count),
                  .figure = fmt::format("{:.0f} MB resident", mb),
                  .against = "",
                  .value = mb,
                  .goal = 300,
                  .at_most = true,
                  .unit = "MB"});
  return {};
}

Result<void> measure_abort(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t count = options.quick ? kAborts / 10 : kAborts;
  options.say(fmt::format("stopping {} of {} runs", count, count + kAtOnce));
  SKEIN_ASSIGN(const Desk desk, open_desk(options, "abort"));
  SKEIN_ASSIGN(const auto ids, start_speaking(desk, count + kAtOnce));
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) {
    const Stopwatch watch;
    SKEIN_TRY(desk.runner->cancel(ids[i]));
    SKEIN_ASSIGN(const Run run, desk.runner->wait(ids[i]));
    times.push_back(watch.seconds());
    if (run.status != RunStatus::kInterrupted) {
      return fail(ErrorCode::kDamaged, "a run was not stopped");
    }
  }
  std::sort(times.begin(), times.end());
  const double late = times[times.size() * 99 / 100];
  rows.push_back(
      {.work = fmt::format("stop of a run to its recorded end, 99 of 100, {} others", kAtOnce),
       .figure = fmt::format("{}, median {}", duration(late), duration(median(times))),
       .against = "",
       .value = late * 1000,
       .goal = 50,
       .at_most = true,
       .unit = "ms"});
  return {};
}

}  // namespace

std::span<const Part> runs_bench_parts() {
  static const Part kParts[] = {{"throughput", measure_throughput},
                                {"streaming", measure_streaming},
                                {"abort", measure_abort}};
  return kParts;
}

}  // namespace skein::bench
