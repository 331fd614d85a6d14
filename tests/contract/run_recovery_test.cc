// What is left when a runner goes too early, or its thread does, and what the next one makes of it.
#include <functional>
#include <optional>
#include <thread>

#include "contract/run_fixture.h"

namespace skein::test {
namespace {

class RunRecovery : public RunContract {};
INSTANTIATE_TEST_SUITE_P(, RunRecovery, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunRecovery, ClosesARunWhoseResponseIsThereAsASuccess) {
  const ThreadId thread = thread_of();
  ForgetfulStore forgetful(store());
  std::string id;
  {
    Runner runner(forgetful, agents_, options());
    id = must(runner.execute(run_request("agent", thread.str(), "hi"))).run.id;
  }
  EXPECT_EQ(must(runner().get(id)).status, RunStatus::kRunning);
  EXPECT_EQ(must(runner().recover()).closed, 1U);
  const skein::Run run = must(runner().get(id));
  EXPECT_EQ(run.status, RunStatus::kSuccess);
  EXPECT_EQ(run.response_seq, 3U);
  EXPECT_EQ(run.usage.input_tokens, 10);
  EXPECT_THAT(scan_all(store(), "usage"), SizeIs(1));
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  EXPECT_EQ(must(runner().recover()).closed, 0U);
}

TEST_P(RunRecovery, ClosesARunThatDidNotGetThatFarAsInterrupted) {
  const ThreadId thread = thread_of();
  agents_.set("agent", [](const EngineRequest&, EngineSink&, std::stop_token) {
    return Result<EngineTurn>(fail(ErrorCode::kIo, "no"));
  });
  ForgetfulStore forgetful(store());
  {
    Runner runner(forgetful, agents_, options());
    EXPECT_FALSE(runner.execute(run_request("agent", thread.str(), "hi")));
  }
  // The next run on the thread does it, without anybody asking.
  agents_.set("agent", answer_newest);
  clock().advance(1s);
  must(run(thread, "again"));
  runner().finish_effects();
  const std::vector<skein::Run> runs = must(runner().list({.thread = thread}));
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].status, RunStatus::kSuccess);
  EXPECT_EQ(runs[1].status, RunStatus::kInterrupted);
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunRecovery, LeavesRunsOfProcessesThatLiveAlone) {
  const ThreadId thread = thread_of();
  agents_.set("agent", wait_for_stop);
  const std::string id =
      must(runner().start(run_request("agent", thread.str(), "1"), noting_callbacks(log_))).id;
  const std::string waiting = must(runner().start(run_request("agent", thread.str(), "2"))).id;
  log_.wait_for("on_text: half a sen");
  Runner elsewhere(store(), agents_, options());
  const Recovered recovered = must(elsewhere.recover());
  EXPECT_EQ(recovered.closed, 0U);
  EXPECT_EQ(recovered.alive, 2U);
  EXPECT_EQ(must(runner().get(id)).status, RunStatus::kRunning);
  EXPECT_EQ(must(runner().get(waiting)).status, RunStatus::kPending);
}

class SlowEffect final : public RunEffect {
 public:
  explicit SlowEffect(Log& log) : log_(log) {}
  std::string_view name() const override { return "index"; }
  bool is_wanted() const override { return wanted; }
  Result<void> apply(const FinishedRun& run, std::stop_token stop) override {
    if (wait) {
      while (!stop.stop_requested()) std::this_thread::yield();
      return fail(ErrorCode::kIo, "cut off");
    }
    log_.note("indexed " + std::to_string(*run.response_seq));
    return {};
  }

  std::atomic<bool> wait{true};
  std::atomic<bool> wanted{true};

 private:
  Log& log_;
};

TEST_P(RunRecovery, MakesUpForEffectsThatWereCutOff) {
  SlowEffect index(log_);
  RunnerOptions impatient = options();
  impatient.effects = {&index};
  impatient.drain = 0ms;
  const ThreadId thread = thread_of();
  std::string id;
  {
    Runner runner(store(), agents_, impatient);
    id = must(runner.execute(run_request("agent", thread.str(), "hi"))).run.id;
  }
  index.wait = false;
  impatient.drain = 10s;
  Runner next(store(), agents_, impatient);
  EXPECT_EQ(must(next.recover()).effects, 0U) << "its process may still be at it";
  EXPECT_THAT(must(next.get(id)).effects, ElementsAre("index"));
  clock().advance(1h);
  EXPECT_EQ(must(next.recover()).effects, 1U);
  next.finish_effects();
  EXPECT_THAT(log_.lines(), testing::Contains("indexed 3"));
  EXPECT_THAT(must(next.get(id)).effects, IsEmpty());
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunRecovery, MakesUpForEffectsThatItsOwnRunsDoNotHave) {
  SlowEffect index(log_);
  RunnerOptions impatient = options();
  impatient.effects = {&index};
  impatient.drain = 0ms;
  const ThreadId thread = thread_of();
  {
    Runner runner(store(), agents_, impatient);
    must(runner.execute(run_request("agent", thread.str(), "hi")));
  }
  index.wait = false;
  index.wanted = false;
  impatient.drain = 10s;
  Runner next(store(), agents_, impatient);
  const RunOutcome own = must(next.execute(run_request("agent", thread.str(), "and")));
  EXPECT_THAT(own.run.effects, testing::Not(testing::Contains("index")));
  clock().advance(1h);
  EXPECT_EQ(must(next.recover()).effects, 1U);
  next.finish_effects();
  EXPECT_THAT(log_.lines(), testing::Contains("indexed 3"));
  EXPECT_THAT(log_.lines(), testing::Not(testing::Contains("indexed 5")));
}

TEST_P(RunRecovery, ARunOnAThreadThatIsDeletedEndsAsAnError) {
  const ThreadId thread = thread_of();
  agents_.set("agent", {.run = [&](const EngineRequest&, EngineSink& sink,
                                   std::stop_token) -> Result<EngineTurn> {
                          must(store().remove(thread));
                          sink.on_narration("nowhere to go");
                          return fail(ErrorCode::kIo, "stopped");
                        },
                        .is_agent = true});
  EXPECT_FALSE(run(thread, "hi"));
  const std::vector<skein::Run> runs = must(runner().list({.thread = thread}));
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].status, RunStatus::kError);
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunRecovery, ARunnerThatGoesStopsItsRunsInOrder) {
  const ThreadId thread = thread_of();
  agents_.set("agent", wait_for_stop);
  must(runner().start(run_request("agent", thread.str(), "1"), noting_callbacks(log_)));
  must(runner().start(run_request("agent", thread.str(), "2")));
  log_.wait_for("on_text: half a sen");
  runner_.reset();
  EXPECT_THAT(path(thread), ElementsAre("user: 1", "assistant: (stopped by user)"));
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunRecovery, ARunnerThatGoesBeginsNoneOfTheRunsThatWait) {
  // The first run is over before the runner has come to the next one.
  const ThreadId thread = thread_of();
  std::optional<std::stop_callback<std::function<void()>>> while_stopping;
  agents_.set(
      "agent",
      [&](const EngineRequest&, EngineSink& sink, std::stop_token stop) -> Result<EngineTurn> {
        if (!while_stopping) {
          sink.on_text("begun");
          while_stopping.emplace(stop, [] { std::this_thread::sleep_for(100ms); });
        }
        while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
        return fail(ErrorCode::kIo, "stopped");
      });
  must(runner().start(run_request("agent", thread.str(), "1"), noting_callbacks(log_)));
  must(runner().start(run_request("agent", thread.str(), "2")));
  log_.wait_for("on_text: begun");
  runner_.reset();
  EXPECT_THAT(path(thread), ElementsAre("user: 1", "assistant: (stopped by user)"));
}

}  // namespace
}  // namespace skein::test
