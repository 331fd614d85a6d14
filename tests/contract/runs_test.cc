// Runs, on every backend: what is written and what is told, in which order.
#include <future>
#include <thread>

#include "contract/run_fixture.h"

namespace skein::test {
namespace {

class Runs : public RunContract {};
INSTANTIATE_TEST_SUITE_P(, Runs, testing::ValuesIn(backend_names()), backend_of);

// An agent with a loop and a session of its own: every step of a run has something to do.
Result<EngineTurn> work_as_agent(const EngineRequest& request, EngineSink& sink,
                                 std::stop_token /*stop*/) {
  const ToolCall call{.id = "c1", .name = "search", .input = json(R"({"q":"x"})")};
  sink.on_thinking("hm");
  sink.on_text("I look");
  sink.on_narration("I look");
  sink.on_tool_use(call);
  sink.on_tool_result(call, {.text = "found"});
  sink.on_text("done");
  EngineTurn turn = says("done");
  turn.session_id = request.session_id.value_or("session") + "+";
  turn.usage.cost_usd = 0.25;
  return turn;
}

TEST_P(Runs, TakeTheElevenStepsInOrder) {
  agents_.set("agent", {.run = work_as_agent, .is_agent = true});
  const ThreadId thread = thread_of();
  const RunOutcome outcome = must(run(thread, "hi"));
  EXPECT_EQ(outcome.response, "done");
  EXPECT_EQ(outcome.run.status, RunStatus::kSuccess);
  EXPECT_THAT(log_.lines(), ElementsAre("lease", "write run running", "append user: hi",  //
                                        "on_start: running",                              //
                                        "on_thinking: hm", "on_text: I look",             //
                                        "append assistant_text: I look", "on_narration: I look",
                                        "append tool_use: search", "on_tool: search",           //
                                        "append tool: found", "on_tool_result: search: found",  //
                                        "on_text: done",                                        //
                                        "append result + assistant: done",                      //
                                        "update sessionId (fenced)", "on_response: done",       //
                                        "write run success + usage", "release"));
  EXPECT_THAT(path(thread), ElementsAre("user: hi", "assistant_text: I look", "tool_use: search",
                                        "tool: found", "result", "assistant: done"));
  EXPECT_EQ(get_thread(store(), thread).session_id, "session+");
  for (const Event& event : read_all(store(), thread)) {
    EXPECT_EQ(metadata_of(event, "runId"), outcome.run.id) << gist(event);
  }
  const std::vector<Event> events = read_all(store(), thread);
  EXPECT_EQ(metadata_of(events[2], "tool_call_id"), "c1");
  EXPECT_EQ(metadata_of(events[3], "tool_call_id"), "c1");
  must(run(thread, "again"));
  EXPECT_EQ(get_thread(store(), thread).session_id, "session++");
}

TEST_P(Runs, StoppedByTheUserSaySoAndKeepTheSession) {
  const ThreadId thread = thread_of();
  must(store().update(thread, patch(R"({"sessionId":"old"})"), {}));
  agents_.set("agent", {.run = wait_for_stop, .is_agent = true});
  std::stop_source stop;
  std::jthread stopper([&] {
    log_.wait_for("on_text: half a sen");
    stop.request_stop();
  });
  clock().advance(1s);
  const auto outcome = runner().execute(run_request("agent", thread.str(), "hi"),
                                        noting_callbacks(log_), stop.get_token());
  ASSERT_TRUE(ok(outcome));
  EXPECT_EQ(outcome->response, "");
  EXPECT_EQ(outcome->run.status, RunStatus::kInterrupted);
  EXPECT_THAT(log_.lines(),
              ElementsAre("lease", "write run running", "append user: hi", "on_start: running",
                          "on_text: half a sen", "append assistant: (stopped by user)",
                          "update runStatus (fenced)", "write run interrupted", "release"));
  const Manifest manifest = get_thread(store(), thread);
  EXPECT_EQ(manifest.session_id, "old");
  EXPECT_EQ(manifest.updated_at, clock().now());
}

TEST_P(Runs, ThatFailSaySoCallOnErrorAndKeepTheSession) {
  const ThreadId thread = thread_of();
  must(store().update(thread, patch(R"({"sessionId":"old"})"), {}));
  log_.clear();
  agents_.set("agent",
              {.run = [](const EngineRequest&, EngineSink&, std::stop_token) -> Result<EngineTurn> {
                 return fail(ErrorCode::kBusy, "overloaded");
               },
               .is_agent = true});
  const auto outcome = run(thread, "hi");
  EXPECT_TRUE(fails(outcome, ErrorCode::kBusy, {"overloaded"}));
  EXPECT_THAT(log_.lines(),
              ElementsAre("lease", "write run running", "append user: hi", "on_start: running",
                          "append assistant: (error: overloaded)", "on_error: overloaded",
                          "update runStatus (fenced)", "write run error", "release"));
  EXPECT_EQ(get_thread(store(), thread).session_id, "old");
  const std::vector<skein::Run> runs = must(runner().list({.thread = thread}));
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].status, RunStatus::kError);
  EXPECT_EQ(runs[0].error->message, "overloaded");
  EXPECT_EQ(runs[0].error->code, ErrorCode::kBusy);
}

TEST_P(Runs, AreRefusedBeforeAnythingIsWritten) {
  const ThreadId thread = thread_of();
  const ThreadId paused = thread_of();
  must(store().update(paused, ManifestPatch().status(ThreadStatus::kPaused), {}));
  const ThreadId closed = thread_of();
  must(store().update(closed, ManifestPatch().status(ThreadStatus::kClosed), {}));
  agents_.set("other", answer_newest);
  log_.clear();
  const auto ask = [&](std::string_view agent, ThreadId id) {
    return runner().execute(run_request(agent, id.str(), "hi"), noting_callbacks(log_));
  };
  EXPECT_TRUE(fails(ask("nobody", thread), ErrorCode::kNotFound, {"nobody"}));
  EXPECT_TRUE(fails(ask("other", thread), ErrorCode::kConflict, {"agent", "other"}));
  EXPECT_TRUE(fails(ask("agent", paused), ErrorCode::kConflict, {"paused"}));
  EXPECT_TRUE(fails(ask("agent", closed), ErrorCode::kConflict, {"closed"}));
  EXPECT_TRUE(fails(ask("agent", ThreadId::from_bits(7)), ErrorCode::kNotFound, {"000000000007"}));
  EXPECT_TRUE(fails(ask("../x", thread), ErrorCode::kInvalid));
  RunRequest circle = run_request("agent", thread.str(), "hi");
  circle.chain = {"other", "agent"};
  EXPECT_TRUE(fails(runner().execute(circle), ErrorCode::kInvalid, {"circle"}));
  circle.chain = std::vector<std::string>(limits::kMaxAgentChain + 1, "other");
  EXPECT_TRUE(fails(runner().execute(circle), ErrorCode::kInvalid, {"deep"}));
  EXPECT_TRUE(fails(run(thread, "bad \xff"), ErrorCode::kInvalid, {"UTF-8"}));
  EXPECT_THAT(log_.lines(), IsEmpty());
  EXPECT_THAT(scan_all(store(), "runs"), IsEmpty());
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(Runs, WithoutInputGoOnWithWhatTheThreadHas) {
  const ThreadId thread = thread_of();
  must_append(store(), thread, message("what is left"));
  log_.clear();
  RunRequest request;
  request.agent_id = "agent";
  request.thread_id = thread.str();
  EXPECT_EQ(must(runner().execute(request, noting_callbacks(log_))).response, "re: what is left");
  EXPECT_THAT(path(thread),
              ElementsAre("user: what is left", "result", "assistant: re: what is left"));
}

TEST_P(Runs, WithAnEmptyResponseAppendNoMessage) {
  agents_.set("agent", [](const EngineRequest&, EngineSink&, std::stop_token) {
    return Result<EngineTurn>(says(""));
  });
  const ThreadId thread = thread_of();
  EXPECT_EQ(must(run(thread, "hi")).run.status, RunStatus::kSuccess);
  EXPECT_THAT(path(thread), ElementsAre("user: hi", "result"));
}

TEST_P(Runs, ThatTakeTooLongAreAnErrorOfTheirOwnKind) {
  const ThreadId thread = thread_of();
  agents_.set("agent", {.run = wait_for_stop, .limits = {.timeout = 50ms}});
  std::jthread time([&](const std::stop_token& stop) {
    log_.wait_for("on_text: half a sen");
    while (!stop.stop_requested()) clock().advance(10ms);
  });
  const auto outcome = run(thread, "hi");
  time.request_stop();
  EXPECT_TRUE(fails(outcome, ErrorCode::kIo, {"longer than it may"}));
  EXPECT_EQ(must(runner().list({.thread = thread}))[0].status, RunStatus::kTimeout);
  EXPECT_THAT(path(thread), ElementsAre("user: hi", testing::StartsWith("assistant: (error: ")));
}

TEST_P(Runs, LeaveRecordsThatSayAll) {
  const ThreadId thread = thread_of();
  RunRequest request = run_request("agent", thread.str(), "hi");
  request.metadata = json(R"({"by":"test"})");
  request.kwargs = json(R"({"stream_mode":"values"})");
  request.chain = {"first"};
  const RunOutcome outcome = must(runner().execute(request));
  const skein::Run found = must(runner().get(outcome.run.id));
  EXPECT_EQ(to_json(found), to_json(outcome.run));
  EXPECT_EQ(found.thread, thread);
  EXPECT_EQ(must(thread_of_run(found.id)), thread);
  EXPECT_EQ(found.metadata, request.metadata);
  EXPECT_EQ(found.kwargs, request.kwargs);
  EXPECT_EQ(found.chain, request.chain);
  EXPECT_TRUE(same_json(found.input, json(R"([{"role":"user","text":"hi"}])")));
  EXPECT_EQ(found.usage.input_tokens, 10);
  EXPECT_EQ(found.model, "scripted-1");
  EXPECT_EQ(found.user_seq, 1U);
  EXPECT_EQ(found.response_seq, 3U);
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  EXPECT_TRUE(fails(runner().get("0190163d-8694-7000-8000-0123456789ab"), ErrorCode::kNotFound));
  EXPECT_TRUE(fails(runner().get("nonsense"), ErrorCode::kInvalid, {"nonsense"}));
}

TEST_P(Runs, RecordTheirUsageOnceInTheFieldsThatOthersKnow) {
  const ThreadId thread = thread_of();
  clock().advance(1500ms);
  const RunOutcome outcome = must(run(thread, "hi"));
  const std::vector<Record> usage = scan_all(store(), "usage");
  ASSERT_THAT(usage, SizeIs(1));
  EXPECT_EQ(usage[0].key, outcome.run.id);
  EXPECT_TRUE(same_json(
      json(usage[0].bytes),
      json(R"({"timestamp":")" + clock().now().str() + R"(","agentId":"agent","threadId":")" +
           thread.str() +
           R"(","inputTokens":10,"outputTokens":5,"cacheReadTokens":0,"costUsd":0,"durationMs":0,)"
           R"("turns":1,"model":"scripted-1"})")))
      << usage[0].bytes;
}

TEST_P(Runs, GetATitleFromTheSecondMessageOnOnlyIfThereIsNone) {
  const ThreadId thread = thread_of();
  must(run(thread, "Hello there!"));
  runner().finish_effects();
  EXPECT_FALSE(get_thread(store(), thread).title);
  must(run(thread, "Please compare the two backup plans for us, in detail."));
  runner().finish_effects();
  EXPECT_EQ(get_thread(store(), thread).title, "compare the two backup plans for");
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  must(store().update(thread, patch(R"({"title":"mine"})"), {}));
  must(run(thread, "and now something entirely different"));
  runner().finish_effects();
  EXPECT_EQ(get_thread(store(), thread).title, "mine");
}

class BrokenEffect final : public RunEffect {
 public:
  explicit BrokenEffect(std::string name, bool works, Log& log)
      : name_(std::move(name)), works_(works), log_(log) {}
  std::string_view name() const override { return name_; }
  bool is_wanted() const override { return true; }
  Result<void> apply(const FinishedRun& run, std::stop_token /*stop*/) override {
    log_.note("effect " + name_ + " " + std::to_string(*run.user_seq) + " " +
              std::to_string(*run.response_seq));
    if (works_) return {};
    return fail(ErrorCode::kIo, "broken");
  }

 private:
  const std::string name_;
  const bool works_;
  Log& log_;
};

TEST_P(Runs, HaveEffectsThatFailAlone) {
  BrokenEffect broken("broken", false, log_);
  BrokenEffect index("index", true, log_);
  RunnerOptions with_effects = options();
  with_effects.effects = {&broken, &index};
  runner_ = std::make_unique<Runner>(noting_, agents_, with_effects);
  const ThreadId thread = thread_of();
  const RunOutcome outcome = must(run(thread, "hi"));
  EXPECT_THAT(outcome.run.effects, ElementsAre("broken", "index"));
  runner().finish_effects();
  const std::vector<std::string> expected = {
      "effect broken 1 3", "effect index 1 3",
      "log: run " + outcome.run.id + ": effect broken failed: broken"};
  EXPECT_THAT(log_.lines(), testing::IsSupersetOf(expected));
  EXPECT_THAT(must(runner().get(outcome.run.id)).effects, IsEmpty());
  // After a failure only the usage is recorded.
  log_.clear();
  agents_.set("agent", [](const EngineRequest&, EngineSink&, std::stop_token) {
    return Result<EngineTurn>(fail(ErrorCode::kIo, "no"));
  });
  EXPECT_FALSE(run(thread, "hi"));
  runner().finish_effects();
  EXPECT_THAT(log_.lines(), testing::Not(testing::Contains("effect index 4 5")));
}

TEST_P(Runs, OfOneThreadWaitTheirTurnInOrder) {
  const ThreadId thread = thread_of();
  Log order;
  std::promise<void> release;
  std::shared_future<void> released(release.get_future());
  agents_.set("agent", [&](const EngineRequest& request, EngineSink& sink, std::stop_token stop) {
    if (request.messages.back().text == "0") released.wait();
    order.note(request.messages.back().text);
    return answer_newest(request, sink, stop);
  });
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(must(runner().start(run_request("agent", thread.str(), std::to_string(i)))).id);
  }
  EXPECT_EQ(must(runner().get(ids[4])).status, RunStatus::kPending);
  EXPECT_TRUE(fails(
      [&] {
        RunRequest request = run_request("agent", thread.str(), "no");
        request.multitask = Multitask::kReject;
        return runner().execute(request);
      }(),
      ErrorCode::kBusy, {thread.str()}));
  release.set_value();
  for (const std::string& id : ids) {
    EXPECT_EQ(must(runner().wait(id)).status, RunStatus::kSuccess);
  }
  EXPECT_THAT(order.lines(), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(path(thread), SizeIs(15));
}

TEST_P(Runs, ThatInterruptStopTheOneUnderWayAndThoseThatWait) {
  const ThreadId thread = thread_of();
  agents_.set("agent", wait_for_stop);
  const auto callbacks = noting_callbacks(log_);
  const std::string first =
      must(runner().start(run_request("agent", thread.str(), "1"), callbacks)).id;
  const std::string second = must(runner().start(run_request("agent", thread.str(), "2"))).id;
  log_.wait_for("on_text: half a sen");
  agents_.set("agent", answer_newest);
  RunRequest request = run_request("agent", thread.str(), "3");
  request.multitask = Multitask::kInterrupt;
  EXPECT_EQ(must(runner().execute(request)).response, "re: 3");
  EXPECT_EQ(must(runner().get(first)).status, RunStatus::kInterrupted);
  EXPECT_EQ(must(runner().wait(second)).status, RunStatus::kInterrupted);
  EXPECT_THAT(path(thread), ElementsAre("user: 1", "assistant: (stopped by user)", "user: 3",
                                        "result", "assistant: re: 3"));
}

TEST_P(Runs, ThatRollBackReadAsIfTheOtherHadNotBeen) {
  const ThreadId thread = thread_of();
  must(run(thread, "before"));
  agents_.set("agent", wait_for_stop);
  const std::string first =
      must(runner().start(run_request("agent", thread.str(), "wrong"), noting_callbacks(log_))).id;
  log_.wait_for("on_text: half a sen");
  agents_.set("agent", answer_newest);
  RunRequest request = run_request("agent", thread.str(), "right");
  request.multitask = Multitask::kRollback;
  EXPECT_EQ(must(runner().execute(request)).response, "re: right");
  EXPECT_THAT(path(thread), ElementsAre("user: before", "result", "assistant: re: before", "result",
                                        "user: right", "result", "assistant: re: right"));
  EXPECT_TRUE(must(runner().get(first)).rolled_back);
  EXPECT_THAT(gists(read_all(store(), thread)),
              testing::IsSupersetOf({"user: wrong", "assistant: (stopped by user)"}));
}

TEST_P(Runs, ThatRollBackWithoutInputGoOnFromBeforeTheOther) {
  const ThreadId thread = thread_of();
  must_append(store(), thread, message("question"));
  agents_.set("agent", wait_for_stop);
  RunRequest request;
  request.agent_id = "agent";
  request.thread_id = thread.str();
  must(runner().start(request, noting_callbacks(log_)));
  log_.wait_for("on_text: half a sen");
  agents_.set("agent", answer_newest);
  request.multitask = Multitask::kRollback;
  EXPECT_EQ(must(runner().execute(request)).response, "re: question");
  EXPECT_THAT(path(thread),
              ElementsAre("user: question", "result", "result", "assistant: re: question"));
}

TEST_P(Runs, ThatRollBackAndAreStoppedWhileTheyWaitTakeTheOtherBackAllTheSame) {
  const ThreadId thread = thread_of();
  must(run(thread, "before"));
  std::promise<void> release;
  agents_.set("agent", [&](const EngineRequest& request, EngineSink& sink, std::stop_token stop) {
    auto turn = wait_for_stop(request, sink, stop);
    release.get_future().wait();
    return turn;
  });
  const std::string first =
      must(runner().start(run_request("agent", thread.str(), "wrong"), noting_callbacks(log_))).id;
  log_.wait_for("on_text: half a sen");
  RunRequest request = run_request("agent", thread.str(), "never said");
  request.multitask = Multitask::kRollback;
  const std::string second = must(runner().start(request)).id;
  agents_.set("agent", answer_newest);
  const std::string third = must(runner().start(run_request("agent", thread.str(), "next"))).id;
  EXPECT_TRUE(must(runner().cancel(second)));
  release.set_value();
  EXPECT_EQ(must(runner().wait(second)).status, RunStatus::kInterrupted);
  EXPECT_TRUE(must(runner().get(first)).rolled_back);
  EXPECT_EQ(must(runner().wait(third)).status, RunStatus::kSuccess);
  EXPECT_THAT(path(thread), ElementsAre("user: before", "result", "assistant: re: before", "result",
                                        "user: next", "result", "assistant: re: next"));
  const skein::Run stopped = must(runner().get(second));
  EXPECT_EQ(stopped.first_seq, 0U);
  EXPECT_FALSE(stopped.error);
}

TEST_P(Runs, ThatWaitAreStoppedByAChangeOfStatusAndTheOneUnderWayIsNot) {
  const ThreadId thread = thread_of();
  std::promise<void> release;
  std::shared_future<void> released(release.get_future());
  agents_.set("agent", [&](const EngineRequest& request, EngineSink& sink, std::stop_token stop) {
    released.wait();
    return answer_newest(request, sink, stop);
  });
  const std::string first = must(runner().start(run_request("agent", thread.str(), "1"))).id;
  const std::string second = must(runner().start(run_request("agent", thread.str(), "2"))).id;
  must(store().update(thread, ManifestPatch().status(ThreadStatus::kPaused), {}));
  clock().advance(1s);
  const skein::Run stopped = must(runner().wait(second));
  EXPECT_EQ(stopped.status, RunStatus::kInterrupted);
  EXPECT_THAT(stopped.error->message, testing::HasSubstr("paused"));
  release.set_value();
  EXPECT_EQ(must(runner().wait(first)).status, RunStatus::kSuccess);
  EXPECT_THAT(path(thread), ElementsAre("user: 1", "result", "assistant: re: 1"));
}

TEST_P(Runs, AreStoppedByCancelWhereverTheyAre) {
  const ThreadId thread = thread_of();
  agents_.set("agent", wait_for_stop);
  const std::string first =
      must(runner().start(run_request("agent", thread.str(), "1"), noting_callbacks(log_))).id;
  const std::string second = must(runner().start(run_request("agent", thread.str(), "2"))).id;
  log_.wait_for("on_text: half a sen");
  // Another runner has no live run of that name: it asks through the store, as a process would.
  Runner elsewhere(store(), agents_, options());
  EXPECT_TRUE(must(elsewhere.cancel(second)));
  EXPECT_EQ(must(elsewhere.wait(second)).status, RunStatus::kInterrupted);
  EXPECT_TRUE(must(elsewhere.cancel(first)));
  EXPECT_EQ(must(elsewhere.wait(first)).status, RunStatus::kInterrupted);
  EXPECT_FALSE(must(elsewhere.cancel(first)));
  EXPECT_THAT(path(thread), ElementsAre("user: 1", "assistant: (stopped by user)"));
}

// A name for the process, and after that the same ids as every other one.
class SameIds final : public IdSource {
 public:
  explicit SameIds(std::uint64_t process) : next_(process) {}
  std::uint64_t next() override { return next_.exchange(7); }

 private:
  std::atomic<std::uint64_t> next_;
};

TEST_P(Runs, ThatGetTheIdOfAnotherAreRefusedAndLeaveThatAlone) {
  SameIds here(1);
  SameIds there(2);
  RunnerOptions first = options();
  RunnerOptions second = options();
  first.ids = &here;
  second.ids = &there;
  for (const bool at_once : {true, false}) {
    for (const Multitask policy : {Multitask::kEnqueue, Multitask::kInterrupt}) {
      const ThreadId thread = thread_of();
      clock().advance(1s);
      Runner runner(noting_, agents_, first);
      Runner other(noting_, agents_, second);
      RunRequest request = run_request("agent", thread.str(), "2");
      request.multitask = policy;
      agents_.set("agent", at_once ? answer_newest : wait_for_stop);
      const std::string id =
          must(runner.start(run_request("agent", thread.str(), "1"), noting_callbacks(log_))).id;
      if (at_once) must(runner.wait(id));
      const auto refused = other.start(request);
      EXPECT_TRUE(fails(refused, ErrorCode::kConflict, {id})) << at_once;
      if (!at_once) must(runner.cancel(id));
      const skein::Run run = must(runner.wait(id));
      EXPECT_EQ(run.status, at_once ? RunStatus::kSuccess : RunStatus::kInterrupted);
      EXPECT_EQ(run.first_seq, 1U);
      EXPECT_EQ(must(other.get(id)).last_seq, run.last_seq);
      EXPECT_EQ(path(thread)[0], "user: 1");
      EXPECT_EQ(path(thread).size(), run.last_seq);
      agents_.set("agent", answer_newest);
      const RunOutcome next = must(other.execute(request));
      EXPECT_GT(next.run.id, id);
      EXPECT_EQ(next.run.first_seq, run.last_seq + 1);
      runner.finish_effects();
      other.finish_effects();
      EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
    }
  }
}

TEST_P(Runs, ThatLoseTheirLeaseWriteNothingMore) {
  const ThreadId thread = thread_of();
  agents_.set("agent", [&](const EngineRequest&, EngineSink& sink, std::stop_token stop) {
    sink.on_text("first");
    while (!stop.stop_requested()) sink.on_text(".");
    sink.on_narration("too late");
    return Result<EngineTurn>(says("too late"));
  });
  auto callbacks = noting_callbacks(log_);
  callbacks.on_text = [&](std::string_view piece) {
    if (piece == "first") log_.note("streaming");
  };
  Result<RunOutcome> outcome = fail(ErrorCode::kInvalid, "did not run");
  std::jthread loser(
      [&] { outcome = runner().execute(run_request("agent", thread.str(), "1"), callbacks); });
  log_.wait_for("streaming");
  // The holder slept past its lease; another took over.
  clock().advance(1h);
  std::optional<Lease> taken;
  while (!taken) {
    // The holder may renew first, as long as nobody took it.
    if (auto lease = store().lease(thread, "other", 1h, std::nullopt))
      taken = *lease;
    else
      clock().advance(1h);
  }
  log_.clear();
  clock().advance(10s);
  loser.join();
  EXPECT_TRUE(fails(outcome, ErrorCode::kFenced, {thread.str()}));
  EXPECT_THAT(path(thread), ElementsAre("user: 1"));
  EXPECT_THAT(log_.lines(), testing::Not(testing::Contains(testing::StartsWith("append"))));
}

}  // namespace
}  // namespace skein::test
