// Works on a run and says what it wrote, until it is stopped, killed, or another process takes
// over.
//
//   run_worker URL THREAD LEASE_MS STEPS [SLEEP_AFTER_MS]
//
// The engine tells a step every millisecond or so, each of which is an event of the thread; with 0
// steps it never ends. Says "run ID", "stored N" after each step, and how it ended. With
// SLEEP_AFTER_MS it stops itself that long after its first step, wherever it is then but in the
// middle of a call of the store: who is stopped there holds the file's lock, and all others wait.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <shared_mutex>
#include <string>
#include <thread>

#include "core/pause.h"
#include "skein/runner.h"
#include "support/passing_store.h"
#include "support/runs.h"

using namespace skein;

namespace {

// Nobody is in the store while `gate` is taken alone.
class GatedStore final : public test::PassingStore {
 public:
  using PassingStore::PassingStore;

  Result<std::optional<Manifest>> get(const ThreadRef& ref) override {
    const std::shared_lock lock(gate);
    return inner_.get(ref);
  }
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    const std::shared_lock lock(gate);
    return inner_.update(id, patch, options);
  }
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    const std::shared_lock lock(gate);
    return inner_.append(appends);
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    const std::shared_lock lock(gate);
    return inner_.lease(id, holder, ttl, token);
  }
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    const std::shared_lock lock(gate);
    return inner_.write(writes);
  }
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    const std::shared_lock lock(gate);
    return inner_.scan(range);
  }

  std::shared_mutex gate;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  auto opened = open_store(argv[1]);
  if (!opened) return 3;
  GatedStore store(**opened);
  const long steps = std::atol(argv[4]);
  std::latch first_step(1);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  test::ScriptedAgents agents;
  agents.set("agent", {.run = [&](const EngineRequest&, EngineSink& sink,
                                  std::stop_token stop) -> Result<EngineTurn> {
                         for (long i = 1; steps == 0 || i <= steps; ++i) {
                           if (!sink.on_narration("step " + std::to_string(i))) {
                             return fail(ErrorCode::kIo, "stopped");
                           }
                           std::printf("stored %ld\n", i);
                           if (i == 1) first_step.count_down();
                           if (!pause_for(std::chrono::milliseconds(1), stop)) {
                             return fail(ErrorCode::kIo, "stopped");
                           }
                         }
                         return test::says("done");
                       },
                       .is_agent = true});
  std::jthread sleeper;
  if (argc > 5) {
    sleeper = std::jthread([&, after = std::chrono::milliseconds(std::atoi(argv[5]))] {
      first_step.wait();
      pause_for(after, {});
      const std::unique_lock alone(store.gate);
      ::kill(::getpid(), SIGSTOP);
    });
  }
  RunnerOptions options;
  options.lease = std::chrono::milliseconds(std::atoi(argv[3]));
  options.titles = false;
  Runner runner(store, agents, options);
  RunCallbacks callbacks;
  callbacks.on_start = [](const Run& run) { std::printf("run %s\n", run.id.c_str()); };
  const auto outcome = runner.execute(run_request("agent", argv[2], "work"), callbacks);
  std::printf("ended %s\n",
              outcome ? to_string(outcome->run.status) : to_string(outcome.error().code));
  return 0;
}
