// Requests to roll a run back that arrive while it writes its end.
#include <functional>
#include <future>
#include <utility>

#include "contract/run_fixture.h"
#include "runner/run_book.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

// Has something happen right before the record of a run's end is written.
class EndingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    for (const RecordWrite& write : writes) {
      const bool ends = write.collection == "runs" && write.bytes &&
                        write.bytes->find(R"("endedAt")") != std::string::npos;
      if (ends && before_end) std::exchange(before_end, nullptr)();
    }
    return inner_.write(writes);
  }

  std::function<void()> before_end;  // once
};

// Has something happen between the look at the open runs and what is done about them.
class LookingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    auto found = inner_.scan(range);
    if (range.collection == "runs_open" && found && !found->empty() && after_look) {
      std::exchange(after_look, nullptr)();
    }
    return found;
  }

  std::function<void()> after_look;  // once
};

class RunEnd : public RunContract {
 protected:
  RunEnd() { runner_ = std::make_unique<Runner>(ending_, agents_, options()); }
  ~RunEnd() override { runner_.reset(); }

  RunCallbacks noting_start() {
    RunCallbacks callbacks;
    callbacks.on_start = [this](const skein::Run& run) { id_ = run.id; };
    return callbacks;
  }
  RunRequest request(std::string_view text) { return run_request("agent", thread_.str(), text); }
  // Asks for it from another process, right before the end is written.
  void roll_back_at_end() {
    ending_.before_end = [this] { EXPECT_TRUE(must(elsewhere_.cancel(id_, {.roll_back = true}))); };
  }
  void expect_rolled_back() {
    const skein::Run run = must(elsewhere_.get(id_));
    EXPECT_NE(run.status, RunStatus::kSuccess);
    EXPECT_TRUE(run.rolled_back);
    EXPECT_THAT(path(thread_), ElementsAre("result"));
    EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
    EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  }
  void expect_refused(const Result<bool>& cancelled) {
    EXPECT_TRUE(fails(cancelled, ErrorCode::kConflict, {id_, "success", "not rolled back"}));
    EXPECT_THAT(path(thread_), ElementsAre("user: hello", "result", "assistant: re: hello"));
    EXPECT_FALSE(must(elsewhere_.get(id_)).rolled_back);
    EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
  }

  const ThreadId thread_ = thread_of();
  std::string id_;
  EndingStore ending_{backend_.store()};
  Runner elsewhere_{backend_.store(), agents_, options()};
};
INSTANTIATE_TEST_SUITE_P(, RunEnd, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunEnd, HonoursARequestToRollBackThatCameBeforeItWasWritten) {
  roll_back_at_end();
  const RunOutcome outcome = must(runner().execute(request("hello"), noting_start()));
  EXPECT_EQ(outcome.run.status, RunStatus::kInterrupted);
  EXPECT_EQ(outcome.response, "");
  expect_rolled_back();
}

TEST_P(RunEnd, HonoursSuchARequestAlsoWhenTheResponseWasTold) {
  roll_back_at_end();
  RunCallbacks callbacks = noting_start();
  callbacks.on_response = [this](std::string_view text) { log_.note(std::string(text)); };
  must(runner().execute(request("hello"), callbacks));
  log_.wait_for("re: hello");
  expect_rolled_back();
}

TEST_P(RunEnd, HonoursSuchARequestOfTheSameProcess) {
  ending_.before_end = [this] { EXPECT_TRUE(must(runner().cancel(id_, {.roll_back = true}))); };
  must(runner().execute(request("hello"), noting_start()));
  expect_rolled_back();
}

TEST_P(RunEnd, HonoursSuchARequestWhenTheRunFails) {
  agents_.set("agent",
              [](const EngineRequest&, EngineSink&, const std::stop_token&) -> Result<EngineTurn> {
                return fail(ErrorCode::kIo, "no answer");
              });
  roll_back_at_end();
  EXPECT_TRUE(fails(runner().execute(request("hello"), noting_start()), ErrorCode::kIo));
  expect_rolled_back();
}

TEST_P(RunEnd, RestoresTheSessionOfTheEngineThatARolledBackRunReplaced) {
  must(store().update(thread_, ManifestPatch().session_id("session-1"), {}));
  agents_.set("agent", {.run = [](const EngineRequest&, EngineSink&,
                                  const std::stop_token&) -> Result<EngineTurn> {
                          EngineTurn turn = says("Fine.");
                          turn.session_id = "session-2";
                          return turn;
                        },
                        .is_agent = true});
  roll_back_at_end();
  must(runner().execute(request("hello"), noting_start()));
  expect_rolled_back();
  EXPECT_EQ(get_thread(store(), thread_).session_id, "session-1");
}

TEST_P(RunEnd, KeepsAPlainRequestToStopThatCameTooLateFromUndoingAnything) {
  ending_.before_end = [this] { EXPECT_TRUE(must(elsewhere_.cancel(id_))); };
  EXPECT_EQ(must(runner().execute(request("hello"), noting_start())).response, "re: hello");
  EXPECT_EQ(must(elsewhere_.get(id_)).status, RunStatus::kSuccess);
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
}

TEST_P(RunEnd, AnswersARequestToRollBackThatComesAfterIt) {
  must(runner().execute(request("hello"), noting_start()));
  expect_refused(elsewhere_.cancel(id_, {.roll_back = true}));
  expect_refused(runner().cancel(id_, {.roll_back = true}));
}

TEST_P(RunEnd, AnswersARequestToRollBackWhoseRunEndsAtThatMoment) {
  std::promise<void> release;
  std::promise<void> at_work;
  agents_.set("agent",
              [&](const EngineRequest& asked, EngineSink& sink,
                  const std::stop_token& stop) -> Result<EngineTurn> {
                at_work.set_value();
                release.get_future().wait();
                return answer_newest(asked, sink, stop);
              });
  id_ = must(runner().start(request("hello"))).id;
  at_work.get_future().wait();
  LookingStore looking(store());
  Runner late(looking, agents_, options());
  looking.after_look = [&] {
    release.set_value();
    EXPECT_EQ(must(runner().wait(id_)).status, RunStatus::kSuccess);
  };
  expect_refused(late.cancel(id_, {.roll_back = true}));
}

}  // namespace
}  // namespace skein::test
