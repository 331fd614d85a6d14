// Runs of agents that answer at once, all of which is written together.
#include "contract/run_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RunsAtOnce : public RunContract {
 protected:
  RunsAtOnce() { answer_with(answer_newest); }

  void answer_with(ScriptedEngine::Run run) {
    agents_.set("agent", {.run =
                              [this, run = std::move(run)](const EngineRequest& request,
                                                           EngineSink& sink, std::stop_token stop) {
                                ++asked_;
                                told_.clear();
                                for (const EngineMessage& message : request.messages) {
                                  told_.push_back(message.text);
                                }
                                log_.note("engine");
                                return run(request, sink, std::move(stop));
                              },
                          .at_once = true});
  }
  Result<RunOutcome> run_at_once(ThreadId thread, std::string_view text) {
    RunRequest request = run_request("agent", thread.str(), text);
    request.at_once = true;
    request.multitask = Multitask::kReject;
    return runner().execute(request);
  }

  int asked_ = 0;
  std::vector<std::string> told_;
};
INSTANTIATE_TEST_SUITE_P(, RunsAtOnce, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunsAtOnce, LeaveWhatOthersLeave) {
  std::vector<Json> records;
  for (const bool at_once : {true, false}) {
    const ThreadId thread = thread_of();
    asked_ = 0;
    for (const char* text : {"one", "two", "three"}) {
      const auto outcome = must(at_once ? run_at_once(thread, text) : run(thread, text));
      EXPECT_EQ(outcome.response, std::string("re: ") + text);
      runner().finish_effects();
    }
    EXPECT_EQ(asked_, 3);
    EXPECT_THAT(told_, ElementsAre("one", "re: one", "two", "re: two", "three"));
    EXPECT_THAT(path(thread),
                ElementsAre("user: one", "result", "assistant: re: one", "user: two", "result",
                            "assistant: re: two", "user: three", "result", "assistant: re: three"));
    const auto runs = must(runner().list({.thread = thread}));
    ASSERT_THAT(runs, SizeIs(3));
    EXPECT_EQ(runs[0].status, RunStatus::kSuccess);
    EXPECT_EQ(runs[0].base_seq, 6U);
    EXPECT_EQ(runs[0].first_seq, 7U);
    EXPECT_EQ(runs[0].last_seq, 9U);
    EXPECT_EQ(runs[0].user_seq, 7U);
    EXPECT_EQ(runs[0].response_seq, 9U);
    EXPECT_TRUE(runs[0].started_at.is_set() && runs[0].ended_at.is_set());
    EXPECT_EQ(runs[0].usage.input_tokens, 10);
    EXPECT_TRUE(get_thread(store(), thread).title) << "it was given one";
    for (const Event& event : read_all(store(), thread)) EXPECT_NE(metadata_of(event, "runId"), "");
  }
  EXPECT_THAT(scan_all(store(), "usage"), SizeIs(6));
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunsAtOnce, WriteNothingBeforeTheAnswer) {
  const ThreadId thread = thread_of();
  must(run_at_once(thread, "hi"));
  const auto lines = log_.lines();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), "engine");
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "release"), 1);
}

TEST_P(RunsAtOnce, WriteTogetherAlsoInAThreadThatHasNoTitleYet) {
  const ThreadId thread = thread_of();
  must(run_at_once(thread, "hi"));
  for (const char* text : {"hello", "what may whales weigh when old"}) {
    log_.clear();
    must(run_at_once(thread, text));
    const auto lines = log_.lines();
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front(), "engine");
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "engine"), 1);
    runner().finish_effects();
  }
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(get_thread(store(), thread).title, "what may whales weigh when old");
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunsAtOnce, GoTheUsualWayWhereTheEngineFails) {
  const ThreadId thread = thread_of();
  answer_with([](const EngineRequest&, EngineSink&, std::stop_token) {
    return Result<EngineTurn>(fail(ErrorCode::kIo, "no"));
  });
  EXPECT_FALSE(run_at_once(thread, "hi"));
  EXPECT_THAT(path(thread), ElementsAre("user: hi", "assistant: (error: no)"));
  EXPECT_EQ(must(runner().list({.thread = thread})).front().status, RunStatus::kError);
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunsAtOnce, GoTheUsualWayWhereTheThreadChangedMeanwhile) {
  const ThreadId thread = thread_of();
  bool first = true;
  answer_with([&](const EngineRequest& request, EngineSink& sink, std::stop_token stop) {
    if (std::exchange(first, false)) must_append(store(), thread, message("in between"));
    return answer_newest(request, sink, std::move(stop));
  });
  must(run_at_once(thread, "hi"));
  EXPECT_EQ(asked_, 2);
  EXPECT_THAT(told_, ElementsAre("in between", "hi"));
  EXPECT_THAT(path(thread),
              ElementsAre("user: in between", "user: hi", "result", "assistant: re: hi"));
  EXPECT_THAT(must(runner().list({.thread = thread})), SizeIs(1));
  EXPECT_THAT(scan_all(store(), "usage"), SizeIs(1));
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunsAtOnce, GoTheUsualWayWhereTheAnswerCannotBeStored) {
  const ThreadId thread = thread_of();
  answer_with([](const EngineRequest&, EngineSink&, std::stop_token) {
    return Result<EngineTurn>(says("\xff is no text"));
  });
  EXPECT_FALSE(run_at_once(thread, "hi"));
  const auto said = path(thread);
  ASSERT_THAT(said, SizeIs(3));
  EXPECT_EQ(said.front(), "user: hi");
  EXPECT_THAT(said.back(), testing::HasSubstr("(error: "));
  EXPECT_EQ(must(runner().list({.thread = thread})).front().status, RunStatus::kError);
}

TEST_P(RunsAtOnce, AreRefusedWhileAnotherHoldsTheThread) {
  const ThreadId thread = thread_of();
  const Lease lease = must(store().lease(thread, "another", 60s, std::nullopt));
  const auto refused = run_at_once(thread, "hi");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_THAT(path(thread), IsEmpty());
  EXPECT_THAT(scan_all(store(), "runs"), IsEmpty());
  EXPECT_THAT(scan_all(store(), "usage"), IsEmpty());
  must(store().lease(thread, "another", 0ms, lease.token));
  must(run_at_once(thread, "hi"));
}

TEST_P(RunsAtOnce, AreStoppedBeforeTheyWrite) {
  const ThreadId thread = thread_of();
  RunRequest request = run_request("agent", thread.str(), "hi");
  request.at_once = true;
  std::stop_source stop;
  stop.request_stop();
  must(runner().execute(request, {}, stop.get_token()));
  EXPECT_THAT(path(thread), ElementsAre("user: hi", "assistant: (stopped by user)"));
}

}  // namespace
}  // namespace skein::test
