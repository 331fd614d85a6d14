// Runs that are stopped and taken back, on every backend, wherever they are.
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <utility>

#include "contract/run_fixture.h"
#include "runner/process.h"
#include "runner/run_book.h"

namespace skein::test {
namespace {

// Has something happen right after a run has looked at its thread.
class LookedAtStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override {
    auto found = inner_.get(ref);
    if (leased_ && after_get) std::exchange(after_get, nullptr)();
    return found;
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    leased_ = true;
    return inner_.lease(id, holder, ttl, token);
  }

  std::function<void()> after_get;  // with the lease; once

 private:
  bool leased_ = false;
};

// Has something happen between what a process hears and what it does.
class HeardStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    auto found = inner_.scan(range);
    if (range.collection != "run_stops" || range.limit == 1) return found;
    if (found && !found->empty() && after_request) std::exchange(after_request, nullptr)();
    ++looks_;
    looks_.notify_all();
    return found;
  }
  // Until all that could be heard before is dealt with.
  void wait_for_looks() {
    for (const int before = looks_; looks_ < before + 2;) looks_.wait(looks_);
  }

  std::function<void()> after_request;  // was read; once

 private:
  std::atomic<int> looks_{0};
};

// Does something between the request to stop a run and whatever follows it.
class AskedStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    auto written = inner_.write(writes);
    const bool asks = writes.front().collection == "run_stops" && writes.front().bytes;
    if (asks && after_request) std::exchange(after_request, nullptr)();
    return written;
  }

  std::function<void()> after_request;  // is written; once
};

class RunCancel : public RunContract {
 protected:
  ~RunCancel() override { runner_.reset(); }  // whose engine may still wait for released_

  RunRequest request(std::string_view text) {
    RunRequest request = run_request("agent", thread_.str(), text);
    if (text.empty()) request.input.messages.clear();
    return request;
  }
  std::string start_wrong(Runner& runner, const RunRequest& request) {
    agents_.set("agent", wait_for_stop);
    std::string id = must(runner.start(request, noting_callbacks(log_))).id;
    log_.wait_for("on_text: half a sen");
    agents_.set("agent", answer_newest);
    return id;
  }
  // One that takes its time to stop, until release_.
  std::string start_slow(Runner& runner) {
    agents_.set("agent", [this](const EngineRequest& request, EngineSink& sink,
                                const std::stop_token& stop) {
      auto turn = wait_for_stop(request, sink, stop);
      log_.note("stopping");
      released_.wait();
      return turn;
    });
    std::string id = must(runner.start(request("wrong"), noting_callbacks(log_))).id;
    log_.wait_for("on_text: half a sen");
    return id;
  }
  // As if the process that has the run had slept past its lease.
  void lose_lease() {
    const auto open = must(RunBook(store(), clock(), "elsewhere").open_of(thread_));
    ASSERT_THAT(open, SizeIs(1));
    must(store().lease(thread_, "its holder", 0ms, open.front().token));
  }
  void expect_taken_back_by_others(const std::string& id) {
    log_.wait_for("stopping");
    lose_lease();
    Runner elsewhere(store(), agents_, options());
    EXPECT_EQ(must(elsewhere.recover()).closed, 1U);
    EXPECT_TRUE(must(elsewhere.get(id)).rolled_back);
    EXPECT_THAT(path(thread_), ElementsAre("result"));
    EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
  }
  void take_back(Runner& runner, const std::string& id) {
    EXPECT_TRUE(must(runner.cancel(id, {.roll_back = true})));
    EXPECT_EQ(must(runner.wait(id)).status, RunStatus::kInterrupted);
  }
  // A run that a process which is gone by now had at work.
  std::string leave_behind(std::size_t events = 1) {
    skein::Run run;
    run.id = "0199a3b0-5d1c-7000-8123-" + thread_.str();
    run.thread = thread_;
    run.agent_id = "agent";
    run.status = RunStatus::kRunning;
    run.base_seq = must(store().get(thread_))->last_seq;
    run.created_at = run.started_at = clock().now();
    const Lease lease = must(store().lease(thread_, "dead", 1h, std::nullopt));
    // One that had our number before us.
    SeededIds ids;
    std::string process = name_this_process(clock(), ids);
    process.insert(process.rfind('/'), "0");
    RunBook book(store(), clock(), process);
    EXPECT_TRUE(book.begin(store(), run, lease.token, std::nullopt).has_value());
    Append said;
    said.thread = thread_;
    said.event = message("wrong");
    said.event.metadata = Json::trusted(R"({"runId":")" + run.id + R"("})");
    constexpr std::size_t kAtOnce = 1000;
    for (std::size_t left = events; left > 0; left -= std::min(left, kAtOnce)) {
      const std::vector<Append> some(std::min(left, kAtOnce), said);
      for (const auto& appended : store().append(some)) must(appended);
    }
    return run.id;
  }

  const ThreadId thread_ = thread_of();
  std::promise<void> release_;
  std::shared_future<void> released_{release_.get_future()};
};
INSTANTIATE_TEST_SUITE_P(, RunCancel, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunCancel, TakesBackWhatTheRunWroteAndKeepsItInTheLog) {
  must(run(thread_, "before"));
  const std::string wrong = start_wrong(runner(), request("wrong"));
  take_back(runner(), wrong);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_),
              ElementsAre("user: before", "result", "assistant: re: before", "result"));
  EXPECT_THAT(gists(read_all(store(), thread_)),
              testing::IsSupersetOf({"user: wrong", "assistant: (stopped by user)"}));
}

TEST_P(RunCancel, TakesBackARunThatHadOnlyBegun) {
  must_append(store(), thread_, message("before"));
  take_back(runner(), start_wrong(runner(), request("")));
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result"));
}

TEST_P(RunCancel, TakesNothingBackWhenSomebodyWroteMeanwhile) {
  const std::string wrong = start_wrong(runner(), request("wrong"));
  must_append(store(), thread_, message("meanwhile"));
  take_back(runner(), wrong);
  EXPECT_FALSE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_),
              ElementsAre("user: wrong", "user: meanwhile", "assistant: (stopped by user)"));
}

TEST_P(RunCancel, KeepsWhatSomebodyWroteJustBeforeTheRunDid) {
  LookedAtStore looked_at(store());
  Runner other(looked_at, agents_, options());
  looked_at.after_get = [&] { must_append(store(), thread_, message("just before")); };
  RunRequest wrong = request("wrong");
  wrong.multitask = Multitask::kInterrupt;  // so that it does not begin with its lease
  take_back(other, start_wrong(other, wrong));
  EXPECT_THAT(path(thread_), ElementsAre("user: just before", "result"));
}

TEST_P(RunCancel, GoesBackToBeforeTheRunAlsoWhereThatWentOnFromAnEarlierEvent) {
  must(run(thread_, "1"));
  must(run(thread_, "2"));
  RunRequest wrong = request("wrong");
  wrong.base = 3;
  take_back(runner(), start_wrong(runner(), wrong));
  EXPECT_THAT(path(thread_), ElementsAre("user: 1", "result", "assistant: re: 1", "user: 2",
                                         "result", "assistant: re: 2", "result"));
}

TEST_P(RunCancel, DoesNotBringBackWhatTheRunHadTakenBack) {
  must(run(thread_, "before"));
  start_wrong(runner(), request("wrong"));
  log_.clear();
  RunRequest second = request("second");
  second.multitask = Multitask::kRollback;
  take_back(runner(), start_wrong(runner(), second));
  log_.clear();
  second.base = 1;
  start_wrong(runner(), request("wrong again"));
  log_.clear();
  take_back(runner(), start_wrong(runner(), second));
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result", "assistant: re: before",
                                         "result", "result", "result", "result"));
}

TEST_P(RunCancel, TakesBackARunOfAnotherProcess) {
  const std::string wrong = start_wrong(runner(), request("wrong"));
  Runner elsewhere(store(), agents_, options());
  take_back(elsewhere, wrong);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_), ElementsAre("result"));
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
}

TEST_P(RunCancel, TakesBackARunOfAProcessThatIsGone) {
  const std::string wrong = leave_behind();
  take_back(runner(), wrong);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_), ElementsAre("result"));
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
}

TEST_P(RunCancel, TakesAllOfALongRunBackOfAProcessThatIsGone) {
  must_append(store(), thread_, message("before"));
  const std::string wrong = leave_behind(12'000);
  take_back(runner(), wrong);
  const skein::Run run = must(runner().get(wrong));
  EXPECT_TRUE(run.rolled_back);
  EXPECT_EQ(run.first_seq, 2U);
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result"));
}

TEST_P(RunCancel, IsHeardOfByWhoeverClosesARunOfAProcessThatIsGone) {
  const std::string wrong = leave_behind();
  RunBook elsewhere(store(), clock(), "elsewhere");
  ASSERT_TRUE(elsewhere.ask_to_stop(wrong, true).has_value());
  ASSERT_TRUE(elsewhere.ask_to_stop(wrong, false).has_value());  // takes nothing of that away
  const RunOutcome next = must(run(thread_, "next"));
  EXPECT_EQ(next.run.base_seq, 2U);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_), ElementsAre("result", "user: next", "result", "assistant: re: next"));
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
  EXPECT_EQ(must(store().get(thread_))->extra.text().find("runStatus"), std::string::npos);
}

TEST_P(RunCancel, IsSaidInTheRecordAlsoWhereWhoeverWentBackDidNotGetToThat) {
  must_append(store(), thread_, message("before"));
  const std::string wrong = leave_behind();
  RunBook elsewhere(store(), clock(), "elsewhere");
  ASSERT_TRUE(elsewhere.ask_to_stop(wrong, true).has_value());
  ForgetfulStore forgetful(store());
  {
    Runner dies(forgetful, agents_, options());
    EXPECT_TRUE(fails(dies.recover(), ErrorCode::kIo));
  }
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result"));
  EXPECT_EQ(must(runner().recover()).closed, 1U);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
  EXPECT_THAT(path(thread_), ElementsAre("user: before", "result"));
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
}

TEST_P(RunCancel, IsDoneByOthersWhereTheProcessDoesNotGetToItThatHeardOfIt) {
  HeardStore heard(store());
  Runner owner(heard, agents_, options());
  const std::string wrong = start_slow(owner);
  RunBook elsewhere(store(), clock(), "elsewhere");
  EXPECT_TRUE(elsewhere.ask_to_stop(wrong, true).has_value());
  log_.wait_for("stopping");
  heard.wait_for_looks();
  expect_taken_back_by_others(wrong);
  release_.set_value();
}

TEST_P(RunCancel, IsDoneByOthersWhereTheProcessDoesNotGetToItThatWasAsked) {
  const std::string wrong = start_slow(runner());
  EXPECT_TRUE(must(runner().cancel(wrong, {.roll_back = true})));
  expect_taken_back_by_others(wrong);
  release_.set_value();
}

TEST_P(RunCancel, OfARunHereLeavesNoRequest) {
  take_back(runner(), start_wrong(runner(), request("wrong")));
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
}

TEST_P(RunCancel, OfARunThatWaitsLeavesNoRequest) {
  start_slow(runner());
  const std::string waits = must(runner().start(request("waits"))).id;
  take_back(runner(), waits);
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
  release_.set_value();
}

TEST_P(RunCancel, IsDoneWhenAWaitingRunSeesTheRequestFirst) {
  AskedStore asked(store());
  Runner owner(asked, agents_, options());
  start_slow(owner);
  const std::string waits = must(owner.start(request("waits"))).id;
  asked.after_request = [&] { EXPECT_EQ(must(owner.wait(waits)).status, RunStatus::kInterrupted); };
  take_back(owner, waits);
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
  release_.set_value();
}

TEST_P(RunCancel, IsHeardAlsoRightAfterAPlainStop) {
  HeardStore heard(store());
  Runner owner(heard, agents_, options());
  const std::string wrong = start_slow(owner);
  RunBook elsewhere(store(), clock(), "elsewhere");
  heard.after_request = [&] { EXPECT_TRUE(elsewhere.ask_to_stop(wrong, true).has_value()); };
  EXPECT_TRUE(elsewhere.ask_to_stop(wrong, false).has_value());
  log_.wait_for("stopping");
  heard.wait_for_looks();
  release_.set_value();
  EXPECT_EQ(must(owner.wait(wrong)).status, RunStatus::kInterrupted);
  EXPECT_TRUE(must(owner.get(wrong)).rolled_back);
  EXPECT_THAT(scan_all(store(), "run_stops"), IsEmpty());
}

TEST_P(RunCancel, OfAProcessThatIsGoneIsKeptUntilSomebodyClosesTheRun) {
  const std::string wrong = leave_behind();
  RunBook elsewhere(store(), clock(), "elsewhere");
  ASSERT_TRUE(elsewhere.ask_to_stop(wrong, true).has_value());
  clock().advance(1h);
  HeardStore heard(store());
  {
    Runner other(heard, agents_, options());
    agents_.set("agent", wait_for_stop);
    must(other.start(run_request("agent", thread_of().str(), "something else")));
    heard.wait_for_looks();
  }
  EXPECT_EQ(must(runner().recover()).closed, 1U);
  EXPECT_TRUE(must(runner().get(wrong)).rolled_back);
}

}  // namespace
}  // namespace skein::test
