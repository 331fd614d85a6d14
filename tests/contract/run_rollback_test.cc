// Runs that roll back, on every backend, while others write and while writes fail.
#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "contract/run_fixture.h"
#include "runner/run_book.h"

namespace skein::test {
namespace {

// Has something happen between what a run reads and what it writes.
class MeddlingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;

  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    auto done = inner_.read(id, range, sink);
    const bool part = range.from > 0 && range.view == View::kLog;
    if (part && after_read) std::exchange(after_read, nullptr)();
    return done;
  }
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    if (refuses_branches && appends.front().event.base) {
      return std::vector<Result<Appended>>(appends.size(),
                                           fail(ErrorCode::kIo, "the disk is full"));
    }
    return inner_.append(appends);
  }

  std::function<void()> after_read;  // of a part of a thread; once
  bool refuses_branches = false;
};

class RunRollback : public RunContract {
 protected:
  RunRollback() { runner_ = std::make_unique<Runner>(meddling_, agents_, options()); }
  ~RunRollback() override { runner_.reset(); }

  RunRequest rollback(std::string_view text) {
    RunRequest request = run_request("agent", thread_.str(), text);
    if (text.empty()) request.input.messages.clear();
    request.multitask = Multitask::kRollback;
    return request;
  }
  // A run that is at work until it is stopped and released.
  std::string start_wrong() { return start_wrong(run_request("agent", thread_.str(), "wrong")); }
  std::string start_wrong(const RunRequest& wrong) {
    must(run(thread_, "before"));
    runner().finish_effects();
    agents_.set("agent", [this](const EngineRequest& request, EngineSink& sink,
                                const std::stop_token& stop) {
      auto turn = wait_for_stop(request, sink, stop);
      released_.wait();
      return turn;
    });
    std::string id = must(runner().start(wrong, noting_callbacks(log_))).id;
    log_.wait_for("on_text: half a sen");
    agents_.set("agent", answer_newest);
    return id;
  }
  // Stops a run that waits to roll back, and lets the other end.
  skein::Run roll_back_and_stop() {
    const std::string second = must(runner().start(rollback("never said"))).id;
    EXPECT_TRUE(must(runner().cancel(second)));
    release_.set_value();
    return must(runner().wait(second));
  }
  void say_meanwhile() {
    meddling_.after_read = [this] { must_append(store(), thread_, message("meanwhile")); };
  }

  const ThreadId thread_ = thread_of();
  std::promise<void> release_;
  std::shared_future<void> released_{release_.get_future()};
  MeddlingStore meddling_{backend_.store()};
};
INSTANTIATE_TEST_SUITE_P(, RunRollback, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunRollback, InputThatWouldLeaveBehindWhatItDidNotKnowIsRefused) {
  must(run(thread_, "before"));
  RunRequest request = run_request("agent", thread_.str(), "");
  Event instead = message("instead");
  instead.base = 0;
  request.input = {.messages = {}, .events = {instead}};
  request.input.made_for = get_thread(store(), thread_).last_seq;
  const Seq meanwhile = must_append(store(), thread_, message("said meanwhile"));
  const auto before = path(thread_);
  EXPECT_TRUE(fails(runner().execute(request, {}), ErrorCode::kConflict));
  EXPECT_EQ(path(thread_), before);
  request.input.made_for = meanwhile;
  must(runner().execute(request, {}));
  EXPECT_THAT(path(thread_).front(), testing::HasSubstr("instead"));
}

TEST_P(RunRollback, TakesNothingBackWhenSomebodyWritesAtThatMoment) {
  const std::string wrong = start_wrong();
  release_.set_value();
  say_meanwhile();
  EXPECT_EQ(must(runner().execute(rollback("right"))).response, "re: right");
  EXPECT_FALSE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "user: wrong",
                          "assistant: (stopped by user)", "user: meanwhile", "user: right",
                          "result", "assistant: re: right"));
}

TEST_P(RunRollback, WithoutInputTakesNothingBackWhenSomebodyWritesAtThatMoment) {
  const std::string wrong = start_wrong();
  release_.set_value();
  say_meanwhile();
  EXPECT_EQ(must(runner().execute(rollback(""))).response, "re: meanwhile");
  EXPECT_FALSE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result", "assistant: re: before",
                                         "user: wrong", "assistant: (stopped by user)",
                                         "user: meanwhile", "result", "assistant: re: meanwhile"));
}

TEST_P(RunRollback, ThatIsStoppedTakesNothingBackWhenSomebodyWritesAtThatMoment) {
  const std::string wrong = start_wrong();
  say_meanwhile();
  const skein::Run stopped = roll_back_and_stop();
  EXPECT_EQ(stopped.status, RunStatus::kInterrupted);
  EXPECT_FALSE(stopped.error);
  EXPECT_FALSE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "user: wrong",
                          "assistant: (stopped by user)", "user: meanwhile"));
}

TEST_P(RunRollback, MarksNothingAsTakenBackThatIsNot) {
  const std::string wrong = start_wrong();
  release_.set_value();
  meddling_.refuses_branches = true;
  EXPECT_TRUE(fails(runner().execute(rollback("right")), ErrorCode::kIo, {"the disk is full"}));
  EXPECT_FALSE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "user: wrong",
                          "assistant: (stopped by user)", "assistant: (error: the disk is full)"));
}

TEST_P(RunRollback, ThatIsStoppedEndsAsStoppedWhenNothingCanBeTakenBack) {
  const std::string wrong = start_wrong();
  meddling_.refuses_branches = true;
  const skein::Run stopped = roll_back_and_stop();
  EXPECT_EQ(stopped.status, RunStatus::kInterrupted);
  EXPECT_FALSE(stopped.error);
  EXPECT_FALSE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(log_.lines(),
              testing::Contains(testing::HasSubstr("nothing is taken back: the disk is full")));
}

TEST_P(RunRollback, GoesOnFromWhereItIsToldToIfThatIsNotTakenBack) {
  start_wrong();
  release_.set_value();
  RunRequest request = rollback("right");
  request.base = 1;
  const RunOutcome outcome = must(runner().execute(request));
  EXPECT_EQ(outcome.run.base_seq, 1U);
  EXPECT_EQ(must(runner().get(outcome.run.id)).base_seq, 1U);
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "user: right", "result", "assistant: re: right"));
}

TEST_P(RunRollback, WithoutInputGoesOnFromWhereItIsToldToIfThatIsNotTakenBack) {
  const std::string wrong = start_wrong();
  release_.set_value();
  RunRequest request = rollback("");
  request.base = 1;
  EXPECT_EQ(must(runner().execute(request)).run.base_seq, 1U);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result", "assistant: re: before"));
}

TEST_P(RunRollback, GoesOnFromBeforeTheOtherIfItWasToldToGoOnFromWithin) {
  start_wrong();
  release_.set_value();
  RunRequest request = rollback("right");
  request.base = 4;
  EXPECT_EQ(must(runner().execute(request)).run.base_seq, 6U) << "what goes back to 3";
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "result",
                          "user: right", "result", "assistant: re: right"));
}

TEST_P(RunRollback, GoesBackToBeforeTheOtherAlsoWhereThatWentOnFromAnEarlierEvent) {
  RunRequest wrong = run_request("agent", thread_.str(), "wrong");
  wrong.base = 1;
  start_wrong(wrong);
  release_.set_value();
  EXPECT_EQ(must(runner().execute(rollback("right"))).response, "re: right");
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "result",
                          "user: right", "result", "assistant: re: right"));
}

TEST_P(RunRollback, DoesNotBringBackTheRecordOfARunThatIsDeletedAtThatMoment) {
  const std::string wrong = start_wrong();
  release_.set_value();
  RunBook elsewhere(store(), clock(), "elsewhere");
  meddling_.after_read = [&] { EXPECT_TRUE(elsewhere.forget(wrong).has_value()); };
  EXPECT_EQ(must(runner().execute(rollback("right"))).response, "re: right");
  EXPECT_TRUE(fails(runner().get(wrong), ErrorCode::kNotFound));
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "result",
                          "user: right", "result", "assistant: re: right"));
}

TEST_P(RunRollback, DoesNotHoldUpTheEndOfItsRunner) {
  RunnerOptions patient = options();
  patient.lease = 60s;
  start_wrong();
  Runner other(store(), agents_, patient);
  const std::string second = must(other.start(rollback("never said"))).id;
  const auto before = std::chrono::steady_clock::now();
  other.close(0ms);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);
  EXPECT_EQ(must(runner().get(second)).status, RunStatus::kInterrupted);
  release_.set_value();
}

}  // namespace
}  // namespace skein::test
