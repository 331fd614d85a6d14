// What an agent can do with the task that it works on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/built_in_tools.h"
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

}  // namespace
}  // namespace skein::test
