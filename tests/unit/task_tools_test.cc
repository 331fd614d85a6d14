// What an agent can do with the task that it works on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/built_in_tools.h"
#include "api/task_server.h"
#include "core/quotation.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/manual_clock.h"
#include "support/runs.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class TaskTools : public testing::Test {
 protected:
  static RunnerOptions options(Clock& clock) {
    RunnerOptions options;
    options.clock = &clock;
    return options;
  }
  RunScope scope(ThreadId thread) const {
    return {
        .run_id = "run-1", .agent_id = "agent", .thread = thread, .task_id = task_.id, .chain = {}};
  }
  ToolResult call(std::string_view name, std::string input, ThreadId thread) {
    for (const BuiltInTool& tool : task_tools(scope(thread), tasks_)) {
      if (tool.definition.name == name) return tool.call(Json::trusted(std::move(input)), {});
    }
    return {"no such tool", true};
  }
  ToolResult call(std::string_view name, std::string input = "{}") {
    return call(name, std::move(input), task_.thread);
  }

  ManualClock clock_;
  SeededIds ids_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  ScriptedAgents agents_;
  Runner runner_{*store_, agents_, options(clock_)};
  Tasks tasks_{*store_, runner_, agents_, clock_, ids_};
  Task task_ = must(tasks_.create({.agent_id = "agent", .text = "Write it"}));
};

TEST_F(TaskTools, AreThoseThatDefinitionsCanName) {
  std::vector<std::string_view> names;
  const std::vector<BuiltInTool> tools = task_tools(scope(task_.thread), tasks_);
  for (const BuiltInTool& tool : tools) names.emplace_back(tool.definition.name);
  EXPECT_EQ(names, tools_of_builtin("tasks"));
}

TEST_F(TaskTools, PlanReadAndCompleteTheTaskOfTheThread) {
  const ToolResult planned = call(
      "update_task_steps",
      R"({"steps":[{"title":"Read","done":true},{"title":"Write","details":"all","done":false}]})");
  EXPECT_FALSE(planned.is_error) << planned.text;
  const ToolResult read = call("get_task");
  EXPECT_THAT(read.text, HasSubstr(std::string(kValuesWarning)));
  const auto json = boost::json::parse(read.text);
  EXPECT_EQ(json.at_pointer("/steps/0/done"), true);
  EXPECT_EQ(json.at_pointer("/steps/1/details"), "all");
  EXPECT_EQ(json.at("text"), "Write it");
  const ToolResult done = call("complete_task", R"({"note":"Sent"})");
  EXPECT_FALSE(done.is_error) << done.text;
  EXPECT_EQ(must(tasks_.show(task_.id)).status, TaskStatus::kDone);
  EXPECT_EQ(must(tasks_.show(task_.id)).task.note, "Sent");
  EXPECT_TRUE(call("update_task_steps", R"({"steps":[]})").is_error);
}

TEST_F(TaskTools, AreForTheThreadOfTheTaskAlone) {
  const ThreadId other = create_thread(*store_, "agent").id;
  for (const char* name : {"get_task", "update_task_steps", "complete_task"}) {
    EXPECT_TRUE(call(name, R"({"steps":[]})", other).is_error) << name;
  }
  EXPECT_EQ(must(tasks_.show(task_.id)).status, TaskStatus::kOpen);
  RunScope without = scope(task_.thread);
  without.task_id.reset();
  EXPECT_THAT(task_tools(without, tasks_), IsEmpty());
}

// --- The server of an agent with a loop of its own ---

TEST_F(TaskTools, OfAServerAreForTheRunThatIsUnderWay) {
  std::vector<BuiltInTool> tools;
  bool worked = false;
  std::string run_id;
  agents_.set("agent", {.run = [&](const EngineRequest&, EngineSink&,
                                   const std::stop_token&) -> Result<EngineTurn> {
                          run_id = must(runner_.list({.thread = task_.thread})).at(0).id;
                          tools = must(tools_of_task_server(run_id, task_.id, runner_, tasks_));
                          worked = !tools.at(0).call(Json::trusted("{}"), {}).is_error;
                          return says("Fine.");
                        },
                        .is_agent = true});
  must(runner_.execute(must(tasks_.request(task_.id, "Go on")), {}));
  EXPECT_TRUE(worked);
  ASSERT_EQ(tools.size(), 3U);
  const ToolResult late = tools.at(2).call(Json::trusted("{}"), {});
  EXPECT_TRUE(late.is_error);
  EXPECT_THAT(late.text, HasSubstr(run_id));
  EXPECT_EQ(must(tasks_.show(task_.id)).status, TaskStatus::kOpen);
  EXPECT_TRUE(fails(tools_of_task_server("run-1", task_.id, runner_, tasks_), ErrorCode::kInvalid));
}

TEST_F(TaskTools, OfAServerAreOfTheTaskOfThatThreadAlone) {
  const Task other = must(tasks_.create({.agent_id = "agent", .text = "Another"}));
  ToolResult crossed;
  agents_.set(
      "agent",
      {.run = [&](const EngineRequest&, EngineSink&, const std::stop_token&) -> Result<EngineTurn> {
         const std::string run = must(runner_.list({.thread = task_.thread})).at(0).id;
         crossed = must(tools_of_task_server(run, other.id, runner_, tasks_))
                       .at(2)
                       .call(Json::trusted("{}"), {});
         return says("Fine.");
       },
       .is_agent = true});
  must(runner_.execute(must(tasks_.request(task_.id, "Go on")), {}));
  EXPECT_TRUE(crossed.is_error);
  EXPECT_EQ(must(tasks_.show(other.id)).status, TaskStatus::kOpen);
}

TEST_F(TaskTools, AreReachedByAServerWhereAnotherProcessCanReachTheStore) {
  Settings settings;
  settings.workspace = "/w";
  settings.program = "/bin/skein";
  settings.store_url = "postgres://user:secret@host/db";
  const RunScope of_task = scope(task_.thread);
  const auto server = task_server(settings, of_task);
  ASSERT_TRUE(server);
  EXPECT_EQ(server->name, "skein_task");
  EXPECT_THAT(server->command, testing::ElementsAre("/bin/skein", "--workspace=/w", "mcp",
                                                    "--task=" + task_.id, "--run=run-1"));
  EXPECT_THAT(server->environment,
              testing::Contains(testing::Pair("SKEIN_STORE", settings.store_url)));
  settings.store_url = "memory:";
  EXPECT_FALSE(task_server(settings, of_task));
  settings.store_url = "sqlite:/w/a.db";
  RunScope without = of_task;
  without.task_id.reset();
  EXPECT_FALSE(task_server(settings, without));
  settings.program.clear();
  EXPECT_FALSE(task_server(settings, of_task));
}

}  // namespace
}  // namespace skein::test
