// What tests of runs start with: a runner on a store of the backend, which notes what it does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.h"
#include "skein/runner.h"
#include "support/runs.h"

namespace skein::test {

// Refuses to write how runs ended, as a process that died before it could.
class ForgetfulStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    for (const RecordWrite& write : writes) {
      if (write.bytes && write.bytes->find(R"("endedAt")") != std::string::npos) {
        return fail(ErrorCode::kIo, "not now");
      }
    }
    return inner_.write(writes);
  }
};

class RunContract : public StoreContract {
 protected:
  RunnerOptions options() {
    RunnerOptions options;
    options.clock = &clock();
    options.log = [this](std::string_view line) { log_.note("log: " + std::string(line)); };
    return options;
  }
  Runner& runner() {
    if (!runner_) runner_ = std::make_unique<Runner>(noting_, agents_, options());
    return *runner_;
  }
  ThreadId thread_of(const std::string& agent = "agent") {
    const ThreadId id = create_thread(store(), agent).id;
    log_.clear();
    return id;
  }
  Result<RunOutcome> run(ThreadId thread, std::string_view text) {
    return runner().execute(run_request("agent", thread.str(), text), noting_callbacks(log_));
  }
  std::vector<std::string> path(ThreadId thread) {
    ReadRange range;
    range.view = View::kPath;
    return gists(read_all(store(), thread, range));
  }

  Log log_;
  ScriptedAgents agents_;
  NotingStore noting_{backend_.store(), log_};
  std::unique_ptr<Runner> runner_;
};

}  // namespace skein::test
