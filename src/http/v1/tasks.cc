#include "skein/tasks.h"

#include <algorithm>

#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "http/v1/run_answers.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kStandardPage = 50;
constexpr std::size_t kMaxPage = 1000;

// 404 also for tasks of agents that the caller does not see.
Outcome<TaskInfo> seen_task(Service& service, const Request& request) {
  const std::string& id = request.parameter("task_id");
  SKEIN_ASSIGN_OR_REFUSE(TaskInfo info, service.tasks().show(id));
  if (request.caller.sees(info.task.agent_id)) return info;
  // In the words for one that is not there.
  return refuse(404, "not_found", "there is no task " + quote(id));
}

Reply create_task(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  NewTask wanted;
  wanted.agent_id = text_in(fields, "agentId").value_or("");
  SKEIN_TRY_OR_REFUSE(check_sees(request, wanted.agent_id));
  wanted.text = text_in(fields, "text").value_or("");
  wanted.title = text_in(fields, "title").value_or("");
  SKEIN_ASSIGN_OR_REFUSE(const Task task, service.tasks().create(wanted));
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, service.tasks().show(task.id));
  return json_response(201, to_json(info)).header("Location", "/v1/tasks/" + task.id);
}

Reply list_tasks(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  SKEIN_ASSIGN_OR_REFUSE(const std::size_t limit, limit_of(request, kStandardPage, kMaxPage));
  std::vector<TaskInfo> infos;
  if (scope.all) {
    SKEIN_ASSIGN_OR_REFUSE(infos, service.tasks().list(std::nullopt, limit));
  }
  for (const std::string& agent : scope.all ? std::vector<std::string>() : scope.agents) {
    SKEIN_ASSIGN_OR_REFUSE(std::vector<TaskInfo> more, service.tasks().list(agent, limit));
    std::move(more.begin(), more.end(), std::back_inserter(infos));
  }
  // Ids grow with time.
  std::sort(infos.begin(), infos.end(),
            [](const TaskInfo& a, const TaskInfo& b) { return a.task.id > b.task.id; });
  if (infos.size() > limit) infos.resize(limit);
  std::vector<std::string> tasks;
  for (const TaskInfo& info : infos) tasks.push_back(to_json(info));
  return json_response(JsonObject().add_json("tasks", json_array_of(tasks)).str());
}

Reply get_task(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, seen_task(service, request));
  return json_response(to_json(info));
}

Reply run_task(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, seen_task(service, request));
  JsonFields fields = body_of(request);
  SKEIN_ASSIGN_OR_REFUSE(
      const RunRequest wanted,
      service.tasks().request(info.task.id, text_in(fields, "text").value_or("")));
  SKEIN_ASSIGN_OR_REFUSE(const Run run, service.runner().start(wanted));
  return run_response(202, run);
}

Reply cancel_task(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, seen_task(service, request));
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo cancelled, service.tasks().cancel(info.task.id));
  return json_response(to_json(cancelled));
}

}  // namespace

std::vector<Route> task_routes() {
  std::vector<Route> routes;
  routes.push_back(once({.method = "POST",
                         .path = "/v1/tasks",
                         .name = "createTask",
                         .tag = "tasks",
                         .summary = "Give an agent something to do, in a thread of its own",
                         .description = "Starts nothing yet.",
                         .access = Access::kWrite,
                         .agent = AgentOf::kHandler,
                         .body = takes(object({must("agentId", some_text(limits::kMaxAgentIdBytes)),
                                               must("text", some_text(limits::kMaxTaskTextBytes)),
                                               may("title", text(limits::kMaxTaskTitleBytes))})),
                         .responses = {gives(201, "The task.", named("Task"))},
                         .handler = create_task}));
  routes.push_back({.method = "GET",
                    .path = "/v1/tasks",
                    .name = "listTasks",
                    .tag = "tasks",
                    .summary = "List tasks, the newest first",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .parameters = {agent_parameter(), limit_parameter(kStandardPage, kMaxPage)},
                    .responses = {gives(200, "The tasks.", named("TaskList"))},
                    .handler = list_tasks});
  routes.push_back({.method = "GET",
                    .path = "/v1/tasks/{task_id}",
                    .name = "getTask",
                    .tag = "tasks",
                    .summary = "A task, and how its last run ended",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .responses = {gives(200, "The task.", named("Task"))},
                    .handler = get_task});
  routes.push_back(once(
      {.method = "POST",
       .path = "/v1/tasks/{task_id}/runs",
       .name = "runTask",
       .tag = "tasks",
       .summary = "Work on a task, or go on with it",
       .description = "409 while another run of the task is under way, and when it was cancelled.",
       .access = Access::kWrite,
       .agent = AgentOf::kHandler,
       .body = may_take(object({may("text", text(limits::kMaxTextBytes), "What to say to it")})),
       .responses = {gives(202, "The run.", named("Run"))},
       .handler = run_task}));
  routes.push_back({.method = "POST",
                    .path = "/v1/tasks/{task_id}/cancel",
                    .name = "cancelTask",
                    .tag = "tasks",
                    .summary = "Stop a task for good, and close its thread",
                    .access = Access::kWrite,
                    .agent = AgentOf::kHandler,
                    .responses = {gives(200, "The task.", named("Task"))},
                    .handler = cancel_task});
  return routes;
}

}  // namespace skein::http::v1
