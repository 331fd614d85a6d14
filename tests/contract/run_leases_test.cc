// Runs that lose their lease between the moment they get it and their first write.
#include <atomic>
#include <future>
#include <utility>

#include "contract/run_fixture.h"
#include "runner/run_book.h"

namespace skein::test {
namespace {

// Once armed, gives the next lease that a run acquires to another holder before the run can use it.
// It acts on the acquisition alone: the supervisor calls the other functions too, at any time.
class TakingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;

  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    auto lease = inner_.lease(id, holder, ttl, token);
    if (!lease || token || !armed.exchange(false)) return lease;
    EXPECT_TRUE(inner_.lease(id, holder, 0ms, lease->token).has_value());
    EXPECT_TRUE(inner_.lease(id, "another", 1ms, std::nullopt).has_value());
    return lease;
  }

  std::atomic<bool> armed = false;
};

// Holds up whoever renewed the promise of a run that waits, until it is released.
class RenewingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;

  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    auto written = inner_.write(writes);
    const RecordWrite& one = writes.front();
    const bool renews = one.collection == "runs_open" && one.expect_version.value_or(0) != 0 &&
                        one.bytes && one.bytes->find("pending") != std::string::npos;
    if (written && renews && armed.exchange(false)) {
      renewed.set_value();
      released.get_future().wait();
    }
    return written;
  }
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    if (range.collection == "run_stops" && ++looks_ > 0) looks_.notify_all();
    return inner_.scan(range);
  }
  // Until whoever renews promises is done with it.
  void wait_for_look() {
    const int before = looks_;
    while (looks_ == before) looks_.wait(before);
  }

  std::atomic<bool> armed = false;
  std::promise<void> renewed;
  std::promise<void> released;

 private:
  std::atomic<int> looks_ = 0;
};

class RunLeases : public RunContract {
 protected:
  RunLeases() { runner_ = std::make_unique<Runner>(taking_, agents_, options()); }
  ~RunLeases() override { runner_.reset(); }

  // At work until it is stopped or released.
  std::string start_first() {
    agents_.set("agent", [this](const EngineRequest& request, EngineSink& sink,
                                const std::stop_token& stop) {
      sink.on_text("at work");
      released_.wait();
      return answer_newest(request, sink, stop);
    });
    std::string id =
        must(runner().start(run_request("agent", thread_.str(), "1"), noting_callbacks(log_))).id;
    log_.wait_for("on_text: at work");
    return id;
  }
  void expect_lost(const std::string& id) {
    const skein::Run lost = must(runner().wait(id));
    EXPECT_EQ(lost.error->code, ErrorCode::kFenced);
    const skein::Run record = must(runner().get(id));
    EXPECT_EQ(record.status, RunStatus::kInterrupted);
    EXPECT_TRUE(record.ended_at.is_set());
    EXPECT_EQ(record.first_seq, 0U);
    runner().finish_effects();
    EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  }

  const ThreadId thread_ = thread_of();
  std::promise<void> release_;
  std::shared_future<void> released_{release_.get_future()};
  TakingStore taking_{backend_.store()};
};
INSTANTIATE_TEST_SUITE_P(, RunLeases, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunLeases, LostByARunThatHadWaitedLeaveNoEntry) {
  start_first();
  const std::string second = must(runner().start(run_request("agent", thread_.str(), "2"))).id;
  taking_.armed = true;
  release_.set_value();
  expect_lost(second);
  EXPECT_THAT(path(thread_), ElementsAre("user: 1", "result", "assistant: re: 1"));
}

TEST_P(RunLeases, ARunIsRefusedIfItsThreadWentToAnotherAgentMeanwhile) {
  const Lease held = must(store().lease(thread_, "somebody", 60s, std::nullopt));
  const std::string id = must(runner().start(run_request("agent", thread_.str(), "1"))).id;
  UpdateOptions other;
  other.agent_id = "other";
  must(store().update(thread_, {}, other));
  must(store().lease(thread_, "somebody", 0ms, held.token));
  const skein::Run refused = must(runner().wait(id));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::kConflict);
  EXPECT_EQ(get_thread(store(), thread_).last_seq, 0U);
}

TEST_P(RunLeases, LostByARunThatHasBegunLeaveItToWhoeverTookOver) {
  RenewingStore renewing(store());
  runner_ = std::make_unique<Runner>(renewing, agents_, options());
  std::promise<void> release_second;
  start_first();
  agents_.set("agent",
              [&](const EngineRequest& request, EngineSink& sink, const std::stop_token& stop) {
                sink.on_text("also at work");
                release_second.get_future().wait();
                return answer_newest(request, sink, stop);
              });
  const std::string second =
      must(runner().start(run_request("agent", thread_.str(), "2"), noting_callbacks(log_))).id;
  renewing.armed = true;
  clock().advance(options().lease / 2);
  renewing.renewed.get_future().wait();
  release_.set_value();
  log_.wait_for("on_text: also at work");
  renewing.released.set_value();
  renewing.wait_for_look();
  for (const OpenRun& open : must(RunBook(store(), clock(), "elsewhere").open_of(thread_))) {
    if (open.run_id != second) continue;
    must(store().lease(thread_, "its holder", 0ms, open.token));
    must(store().lease(thread_, "another", 1ms, std::nullopt));
  }
  release_second.set_value();
  runner_.reset();  // waits for its end
  Runner elsewhere(store(), agents_, options());
  EXPECT_EQ(must(elsewhere.get(second)).status, RunStatus::kRunning);
  clock().advance(1s);
  EXPECT_EQ(must(elsewhere.recover()).closed, 1U);
  EXPECT_EQ(must(elsewhere.get(second)).error->code, ErrorCode::kIo);
}

TEST_P(RunLeases, ARunThatHasBegunIsNotClosedAsOneThatWaits) {
  RunBook book(store(), clock(), "here");
  skein::Run run;
  run.id = "0199a3b0-5d1c-7000-8123-" + thread_.str();
  run.thread = thread_;
  run.agent_id = "agent";
  run.status = RunStatus::kRunning;
  const Lease lease = must(store().lease(thread_, "here", 1h, std::nullopt));
  must(book.begin(store(), run, lease.token, std::nullopt));
  run.status = RunStatus::kInterrupted;
  must(book.close_waiting(run));
  EXPECT_EQ(must(book.find(run.id))->status, RunStatus::kRunning);
  EXPECT_THAT(must(book.open_of(thread_)), SizeIs(1));
}

TEST_P(RunLeases, LostByARunThatOnlyTakesAnotherBackLeaveNoEntry) {
  const std::string first = start_first();
  RunRequest request = run_request("agent", thread_.str(), "2");
  request.multitask = Multitask::kRollback;
  const std::string second = must(runner().start(request)).id;
  must(runner().cancel(second));
  taking_.armed = true;
  release_.set_value();
  expect_lost(second);
  EXPECT_FALSE(must(runner().get(first)).rolled_back);
}

TEST_P(RunLeases, LostByARunThatWasAnsweredLeaveItsQuestionOpen) {
  agents_.set(
      "agent",
      {.run =
           [](const EngineRequest& request, EngineSink&, const std::stop_token&) {
             const bool first = request.messages.back().role == Role::kUser;
             const ToolCall call{.id = "c", .name = "delete", .input = json(R"({"q":"x"})")};
             return Result<EngineTurn>(first ? calls("", {call}) : says("done"));
           },
       .tools = {make_tool(
           "delete", [](const ToolCall&, const std::stop_token&) { return ToolResult{}; }, true)}});
  const RunOutcome asked = must(run(thread_, "1"));
  ASSERT_TRUE(asked.run.question);
  taking_.armed = true;
  EXPECT_TRUE(fails(runner().resume(asked.run.id, {.yes = true}), ErrorCode::kFenced));
  EXPECT_TRUE(must(runner().get(asked.run.id)).question);
  EXPECT_THAT(scan_all(store(), "runs_open"), SizeIs(1));
  clock().advance(1s);
  EXPECT_EQ(must(runner().resume(asked.run.id, {.yes = true})).response, "done");
}

}  // namespace
}  // namespace skein::test
