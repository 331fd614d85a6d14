// The tool loop, questions to a person, and going on after the answer, on every backend.
#include <atomic>
#include <latch>

#include "contract/run_fixture.h"

namespace skein::test {
namespace {

class RunTools : public RunContract {
 protected:
  // Calls what the test says in its first turn, and then says what the tools answered.
  void agent_calls(std::vector<ToolCall> first, std::vector<ScriptedTools::Tool> tools,
                   RunLimits limits = {}) {
    agents_.set("agent", {.run = [first](const EngineRequest& request, EngineSink&,
                                         std::stop_token) -> Result<EngineTurn> {
                            if (request.messages.back().role != Role::kTool)
                              return calls("I look", first);
                            std::string said;
                            for (const EngineMessage& message : request.messages) {
                              if (message.role != Role::kTool) continue;
                              said += (message.is_error ? "!" : "") + message.text + ";";
                            }
                            return says(said);
                          },
                          .tools = std::move(tools),
                          .limits = limits});
  }
  // Each time with a question of its own.
  void agent_deletes_twice(std::atomic<int>& deletions) {
    const auto remove = [&deletions](const ToolCall&, const std::stop_token&) {
      ++deletions;
      return ToolResult{.text = "deleted"};
    };
    agents_.set("agent", {.run = [](const EngineRequest& request, EngineSink&,
                                    std::stop_token) -> Result<EngineTurn> {
                            const auto done = std::count_if(
                                request.messages.begin(), request.messages.end(),
                                [](const auto& message) { return message.role == Role::kTool; });
                            if (done == 2) return says("deleted 2");
                            return calls("", {call("c" + std::to_string(done), "delete")});
                          },
                          .tools = {make_tool("delete", remove, true)}});
  }
  static ToolCall call(std::string id, std::string name, std::string_view input = R"({"q":"x"})") {
    return {.id = std::move(id), .name = std::move(name), .input = json(input)};
  }
};
INSTANTIATE_TEST_SUITE_P(, RunTools, testing::ValuesIn(backend_names()), backend_of);

ToolResult found(const ToolCall& call, const std::stop_token& /*stop*/) {
  return {.text = "found " + call.id};
}

TEST_P(RunTools, AreCalledAndTheirResultsGoBackToTheModel) {
  agent_calls({call("a", "search")}, {make_tool("search", found)});
  const ThreadId thread = thread_of();
  const RunOutcome outcome = must(run(thread, "hi"));
  EXPECT_EQ(outcome.response, "found a;");
  EXPECT_EQ(outcome.run.usage.turns, 2);
  EXPECT_EQ(outcome.run.usage.input_tokens, 20);
  EXPECT_THAT(log_.lines(),
              ElementsAre("lease", "write run running", "append user: hi", "on_start: running",
                          "append assistant_text: I look + tool_use: search",
                          "on_narration: I look", "on_tool: search", "append tool: found a",
                          "on_tool_result: search: found a", "append result + assistant: found a;",
                          "on_response: found a;", "write run success + usage", "release"));
  const std::vector<Event> events = read_all(store(), thread);
  EXPECT_EQ(metadata_of(events[2], "tool_call_id"), "a");
  EXPECT_EQ(metadata_of(events[3], "tool_call_id"), "a");
  EXPECT_EQ(metadata_of(events[3], "tool_name"), "search");
}

TEST_P(RunTools, OfOneTurnRunAtTheSameTime) {
  // Each waits for all the others: one after the other they would never end.
  auto all = std::make_shared<std::latch>(4);
  const auto meet = [all](const ToolCall& call, const std::stop_token& stop) {
    all->arrive_and_wait();
    return found(call, stop);
  };
  agent_calls({call("a", "meet"), call("b", "meet"), call("c", "meet"), call("d", "meet")},
              {make_tool("meet", meet)});
  EXPECT_THAT(must(run(thread_of(), "hi")).response,
              testing::AllOf(testing::HasSubstr("found a;"), testing::HasSubstr("found d;")));
}

TEST_P(RunTools, ThatFailOrCannotBeCalledAreAnsweredWithAnError) {
  const auto broken = [](const ToolCall&, const std::stop_token&) {
    return ToolResult{.text = "on fire", .is_error = true};
  };
  ToolCall malformed = call("c", "search");
  malformed.input = Json();
  malformed.malformed = "{\"q\":";
  agent_calls({call("a", "broken"), call("b", "nothing"), malformed,
               call("d", "search", R"({"q":5})"), call("a", "search")},
              {make_tool("broken", broken), make_tool("search", found)});
  const ThreadId thread = thread_of();
  const std::string said = must(run(thread, "hi")).response;
  EXPECT_THAT(said, testing::HasSubstr("!on fire;"));
  EXPECT_THAT(said, testing::HasSubstr("!there is no tool \"nothing\";"));
  EXPECT_THAT(said, testing::HasSubstr("!the input is no JSON object"));
  EXPECT_THAT(said, testing::HasSubstr("!member \"q\" of the input is of the wrong type: 5;"));
  // An id that was used twice is told apart.
  EXPECT_THAT(said, testing::HasSubstr("found a-2;"));
}

TEST_P(RunTools, StopAtTheLimitsOfTheirAgent) {
  const auto again = [](const EngineRequest&, EngineSink&, std::stop_token) -> Result<EngineTurn> {
    EngineTurn turn = calls("", {call("a", "search")});
    turn.usage.cost_usd = 0.5;
    return turn;
  };
  const auto run_with = [&](RunLimits limits) {
    agents_.set("agent", {.run = again, .tools = {make_tool("search", found)}, .limits = limits});
    return run(thread_of(), "hi");
  };
  EXPECT_TRUE(fails(run_with({.max_turns = 3}), ErrorCode::kInvalid, {"3 turns"}));
  EXPECT_TRUE(fails(run_with({.max_tokens = 40}), ErrorCode::kInvalid, {"40 tokens"}));
  EXPECT_TRUE(fails(run_with({.max_cost_usd = 1.0}), ErrorCode::kInvalid, {"1 USD"}));
  // What was spent is recorded all the same.
  EXPECT_THAT(scan_all(store(), "usage"), SizeIs(3));
}

TEST_P(RunTools, AreStoppedWithTheirRun) {
  const auto wait = [this](const ToolCall&, const std::stop_token& stop) {
    log_.note("waiting");
    while (!stop.stop_requested()) std::this_thread::yield();
    return ToolResult{.text = "stopped", .is_error = true};
  };
  agent_calls({call("a", "wait"), call("b", "wait")}, {make_tool("wait", wait)});
  const ThreadId thread = thread_of();
  const std::string id = must(runner().start(run_request("agent", thread.str(), "hi"))).id;
  log_.wait_for("waiting");
  must(runner().cancel(id));
  EXPECT_EQ(must(runner().wait(id)).status, RunStatus::kInterrupted);
  EXPECT_THAT(path(thread), ElementsAre("user: hi", "assistant_text: I look", "tool_use: wait",
                                        "tool_use: wait", "assistant: (stopped by user)"));
  // The next run sees calls that were answered, as every model demands.
  agents_.set("agent", [](const EngineRequest& request, EngineSink&, std::stop_token) {
    std::string roles;
    for (const EngineMessage& message : request.messages) {
      roles += to_string(message.role)[0];
      if (message.role == Role::kTool) EXPECT_TRUE(message.is_error);
    }
    return Result<EngineTurn>(says(roles));
  });
  EXPECT_EQ(must(run(thread, "again")).response, "uattau");
}

TEST_P(RunTools, ThatNeedAYesEndTheRunWithTheQuestion) {
  std::atomic<int> deletions{0};
  const auto remove = [&](const ToolCall&, const std::stop_token&) {
    ++deletions;
    return ToolResult{.text = "deleted"};
  };
  agent_calls({call("a", "search"), call("b", "delete")},
              {make_tool("search", found), make_tool("delete", remove, true)});
  const ThreadId thread = thread_of();
  const RunOutcome asked = must(run(thread, "hi"));
  EXPECT_EQ(asked.run.status, RunStatus::kInterrupted);
  ASSERT_TRUE(asked.run.question);
  ASSERT_THAT(asked.run.question->calls, SizeIs(1));
  EXPECT_EQ(asked.run.question->calls[0].name, "delete");
  EXPECT_EQ(deletions, 0);
  EXPECT_THAT(path(thread), ElementsAre("user: hi", "assistant_text: I look", "tool_use: search",
                                        "tool_use: delete", "tool: found a"));

  // In another process, after a restart.
  runner_.reset();
  backend_.reopen();
  Runner later(store(), agents_, options());
  EXPECT_EQ(must(later.recover()).closed, 0U);
  EXPECT_EQ(to_json(must(later.get(asked.run.id))), to_json(asked.run));
  const RunOutcome outcome = must(later.resume(asked.run.id, {.yes = true}));
  EXPECT_EQ(outcome.response, "found a;deleted;");
  EXPECT_EQ(outcome.run.id, asked.run.id);
  EXPECT_EQ(outcome.run.status, RunStatus::kSuccess);
  EXPECT_EQ(outcome.run.resumed, 1U);
  EXPECT_EQ(deletions, 1);
  EXPECT_TRUE(
      fails(later.resume(asked.run.id, {.yes = true}), ErrorCode::kConflict, {"no open question"}));
  EXPECT_THAT(scan_all(store(), "usage"), SizeIs(1));
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunTools, AreCalledByAnAnswerToTheirOwnQuestionOnly) {
  std::atomic<int> deletions{0};
  agent_deletes_twice(deletions);
  const ThreadId thread = thread_of();
  const RunOutcome asked = must(run(thread, "hi"));
  const RunOutcome again = must(runner().resume(asked.run.id, {.yes = true}));
  ASSERT_TRUE(again.run.question);
  EXPECT_EQ(deletions, 1);
  EXPECT_TRUE(fails(runner().resume(asked.run.id, {.yes = true, .resumed = asked.run.resumed}),
                    ErrorCode::kConflict, {"asks another one"}));
  EXPECT_EQ(deletions, 1);
  EXPECT_EQ(
      must(runner().resume(asked.run.id, {.yes = true, .resumed = again.run.resumed})).response,
      "deleted 2");
}

TEST_P(RunTools, AreCalledOnceWhenTwoProcessesWaitToAnswer) {
  std::atomic<int> deletions{0};
  agent_deletes_twice(deletions);
  const ThreadId thread = thread_of();
  const std::string id = must(run(thread, "hi")).run.id;
  // Both are taken on before either has the thread.
  const Lease lease = must(store().lease(thread, "somebody", 10s, std::nullopt));
  Runner other(store(), agents_, options());
  must(runner().start_resume(id, {.yes = true}));
  must(other.start_resume(id, {.yes = true}));
  must(store().lease(thread, "somebody", 0s, lease.token));
  must(runner().wait(id));
  must(other.wait(id));
  EXPECT_EQ(deletions, 1);
  EXPECT_TRUE(must(runner().get(id)).question);
}

TEST_P(RunTools, ThatAPersonRefusesAreNotCalled) {
  const auto never = [](const ToolCall&, const std::stop_token&) {
    ADD_FAILURE() << "was called";
    return ToolResult{};
  };
  agent_calls({call("b", "delete")}, {make_tool("delete", never, true)});
  const RunOutcome asked = must(run(thread_of(), "hi"));
  EXPECT_TRUE(fails(runner().resume(asked.run.id, {.yes = true, .calls = {"x"}}),
                    ErrorCode::kInvalid, {"\"x\""}));
  const RunOutcome outcome = must(runner().resume(asked.run.id, {.note = "too risky"}));
  EXPECT_EQ(outcome.response, "!a person was asked, and said no: too risky;");
}

TEST_P(RunTools, AQuestionIsClosedWhenTheConversationGoesOn) {
  agent_calls({call("b", "delete")}, {make_tool("delete", found, true)});
  const ThreadId thread = thread_of();
  const RunOutcome asked = must(run(thread, "hi"));
  agents_.set("agent", answer_newest);
  EXPECT_EQ(must(run(thread, "never mind")).response, "re: never mind");
  EXPECT_TRUE(fails(runner().resume(asked.run.id, {.yes = true}), ErrorCode::kConflict,
                    {"conversation went on"}));
  EXPECT_FALSE(must(runner().get(asked.run.id)).question);
  // What it had cost by then is recorded.
  EXPECT_THAT(scan_all(store(), "usage"), SizeIs(2));
}

TEST_P(RunTools, AQuestionIsDroppedByCancel) {
  agent_calls({call("b", "delete")}, {make_tool("delete", found, true)});
  const RunOutcome asked = must(run(thread_of(), "hi"));
  EXPECT_TRUE(must(runner().cancel(asked.run.id)));
  EXPECT_FALSE(must(runner().cancel(asked.run.id)));
  EXPECT_TRUE(fails(runner().resume(asked.run.id, {.yes = true}), ErrorCode::kConflict));
}

}  // namespace
}  // namespace skein::test
