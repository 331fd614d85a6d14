#include <utility>

#include "api/built_in_tools.h"
#include "api/task_steps.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quotation.h"
#include "runner/task_records.h"

namespace skein {
namespace {

ToolResult answer(const Result<TaskInfo>& info) {
  if (!info) return {info.error().message, true};
  return {with_notice(to_json(*info))};
}

Json object_schema(std::string_view properties, std::string_view required) {
  return Json::trusted(R"({"type":"object","properties":{)" + std::string(properties) +
                       R"(},"required":[)" + std::string(required) +
                       R"(],"additionalProperties":false})");
}

// The task of the run's thread. A thread that only names it is not the one that it is worked on in.
Result<TaskInfo> own_task(const RunScope& scope, Tasks& tasks) {
  auto info = tasks.show(scope.task_id.value_or(""));
  if (info && info->task.thread != scope.thread) {
    return fail(ErrorCode::kInvalid, "task " + info->task.id + " has another thread");
  }
  return info;
}

using TaskCall = std::function<Result<TaskInfo>(const std::string& id, JsonFields& input)>;

BuiltInTool task_tool(const RunScope& scope, Tasks& tasks, ToolDefinition definition,
                      TaskCall call) {
  return {std::move(definition),
          [scope, &tasks, call = std::move(call)](const Json& input,
                                                  const std::stop_token&) -> ToolResult {
            const auto own = own_task(scope, tasks);
            if (!own) return answer(own);
            JsonFields fields(input.text());
            return answer(call(own->task.id, fields));
          }};
}

}  // namespace

std::vector<TaskStep> take_given_steps(JsonFields& fields) {
  std::vector<TaskStep> steps = take_steps(fields);
  for (TaskStep& step : steps) step.task_id.clear();
  return steps;
}

std::vector<BuiltInTool> task_tools(const RunScope& scope, Tasks& tasks) {
  if (!scope.task_id) return {};
  return {
      task_tool(
          scope, tasks,
          {"get_task", "Reads the task of this thread: what is to be done, its steps and status.",
           object_schema("", "")},
          [&tasks](const std::string& id, JsonFields&) { return tasks.show(id); }),
      task_tool(scope, tasks,
                {"update_task_steps",
                 "Replaces the plan of this thread's task: all of its steps, and which are done.",
                 object_schema(R"("steps":{"type":"array","items":{"type":"object","properties":{)"
                               R"("title":{"type":"string"},"details":{"type":"string"},)"
                               R"("done":{"type":"boolean"}},"required":["title","done"]}})",
                               R"("steps")")},
                [&tasks](const std::string& id, JsonFields& input) {
                  TaskChange change;
                  change.steps = take_given_steps(input);
                  return tasks.update(id, change);
                }),
      task_tool(
          scope, tasks,
          {"complete_task",
           "Completes this thread's task. Call it when everything that the task asks "
           "for is there, and not before: nothing runs for the task afterwards.",
           object_schema(
               R"("note":{"type":"string","description":"how it was done, in a sentence"})", "")},
          [&tasks](const std::string& id, JsonFields& input) {
            return tasks.complete(id, input.take_string("note").value_or(""));
          })};
}

}  // namespace skein
