#include "skein/tasks.h"

#include <algorithm>

#include "api/task_steps.h"
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

// Whose task it is a part of is seen too, or in the words for one that is not there.
Outcome<void> check_parent(Service& service, const Request& request, const std::string& id) {
  if (id.empty()) return {};
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo parent, service.tasks().show(id));
  if (request.caller.sees(parent.task.agent_id)) return {};
  return refuse(404, "not_found", "there is no task " + quote(id));
}

Reply create_task(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  NewTask wanted;
  wanted.agent_id = text_in(fields, "agentId").value_or("");
  SKEIN_TRY_OR_REFUSE(check_sees(request, wanted.agent_id));
  wanted.text = text_in(fields, "text").value_or("");
  wanted.title = text_in(fields, "title").value_or("");
  wanted.owner = text_in(fields, "owner").value_or("");
  wanted.steps = take_given_steps(fields);
  wanted.parent_id = text_in(fields, "parentTaskId").value_or("");
  if (const auto step = number_in(fields, "parentStep")) {
    wanted.parent_step = static_cast<std::size_t>(*step);
  }
  SKEIN_TRY_OR_REFUSE(check_parent(service, request, wanted.parent_id));
  SKEIN_ASSIGN_OR_REFUSE(const Task task, service.tasks().create(wanted));
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, service.tasks().show(task.id));
  return json_response(201, to_json(info)).header("Location", "/v1/tasks/" + task.id);
}

Reply list_tasks(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  SKEIN_ASSIGN_OR_REFUSE(const std::size_t limit, limit_of(request, kStandardPage, kMaxPage));
  TaskQuery query{.limit = limit};
  const std::string state = request.query("state").value_or("");
  if (state == "open") query.which = WhichTasks::kOpen;
  if (state == "ended") query.which = WhichTasks::kEnded;
  std::vector<TaskInfo> infos;
  if (scope.all) {
    SKEIN_ASSIGN_OR_REFUSE(infos, service.tasks().list(query));
  }
  for (const std::string& agent : scope.all ? std::vector<std::string>() : scope.agents) {
    query.agent_id = agent;
    SKEIN_ASSIGN_OR_REFUSE(std::vector<TaskInfo> more, service.tasks().list(query));
    std::move(more.begin(), more.end(), std::back_inserter(infos));
  }
  // Ids grow with time.
  std::sort(infos.begin(), infos.end(), [&](const TaskInfo& a, const TaskInfo& b) {
    if (query.which != WhichTasks::kEnded) return a.task.id > b.task.id;
    return std::pair(a.ended_at(), a.task.id) > std::pair(b.ended_at(), b.task.id);
  });
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

Reply update_task(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, seen_task(service, request));
  JsonFields fields = body_of(request);
  TaskChange change;
  change.title = text_in(fields, "title");
  change.text = text_in(fields, "text");
  change.owner = text_in(fields, "owner");
  if (change.owner && *change.owner != kUserOwner) {
    SKEIN_TRY_OR_REFUSE(check_sees(request, *change.owner));
  }
  JsonFields named = body_of(request);
  if (!json_in(named, "steps").empty()) change.steps = take_given_steps(fields);
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo updated, service.tasks().update(info.task.id, change));
  return json_response(to_json(updated));
}

Reply complete_task(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, seen_task(service, request));
  JsonFields fields = body_of(request);
  SKEIN_ASSIGN_OR_REFUSE(
      const TaskInfo done,
      service.tasks().complete(info.task.id, text_in(fields, "note").value_or("")));
  return json_response(to_json(done));
}

Reply cancel_task(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo info, seen_task(service, request));
  SKEIN_ASSIGN_OR_REFUSE(const TaskInfo cancelled, service.tasks().cancel(info.task.id));
  return json_response(to_json(cancelled));
}

Shape steps_shape() {
  return list(object({must("title", some_text(limits::kMaxTaskStepTitleBytes)),
                      may("details", text(limits::kMaxTaskStepDetailsBytes)), may("done", truth()),
                      may("taskId", text(64), "Ignored: a step keeps the task it was handed to")}),
              limits::kMaxTaskSteps);
}

Shape new_task_shape() {
  return object(
      {must("agentId", some_text(limits::kMaxAgentIdBytes)),
       must("text", some_text(limits::kMaxTaskTextBytes)),
       may("title", text(limits::kMaxTaskTitleBytes)),
       may("owner", some_text(limits::kMaxAgentIdBytes), "The agent (default), or \"user\""),
       may("steps", steps_shape(), "The plan"),
       may("parentTaskId", some_text(64), "The task that it is a part of"),
       may("parentStep", whole(1, limits::kMaxTaskSteps), "The step of it that is handed over")});
}

Route update_route() {
  return {.method = "PATCH",
          .path = "/v1/tasks/{task_id}",
          .name = "updateTask",
          .tag = "tasks",
          .summary = "Change a task, its steps or its owner",
          .description =
              "Each field is replaced whole. With another agent as its owner the task goes on in a "
              "new thread of that agent, and the old thread is closed.",
          .access = Access::kWrite,
          .agent = AgentOf::kHandler,
          .body = takes(
              object({may("title", text(limits::kMaxTaskTitleBytes)),
                      may("text", some_text(limits::kMaxTaskTextBytes)),
                      may("owner", some_text(limits::kMaxAgentIdBytes), "An agent, or \"user\""),
                      may("steps", steps_shape(), "The whole plan")})),
          .responses = {gives(200, "The task as it is now.", named("Task"))},
          .handler = update_task};
}

}  // namespace

std::vector<Route> task_routes() {
  std::vector<Route> routes;
  routes.push_back(once({.method = "POST",
                         .path = "/v1/tasks",
                         .name = "createTask",
                         .tag = "tasks",
                         .summary = "Create a task, with a thread of its own",
                         .description = "Starts nothing yet.",
                         .access = Access::kWrite,
                         .agent = AgentOf::kHandler,
                         .body = takes(new_task_shape()),
                         .responses = {gives(201, "The task.", named("Task"))},
                         .handler = create_task}));
  routes.push_back({.method = "GET",
                    .path = "/v1/tasks",
                    .name = "listTasks",
                    .tag = "tasks",
                    .summary = "List tasks, the newest first",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .parameters = {agent_parameter(),
                                   in_query("state", choice({"open", "ended"}),
                                            "Only those that have not ended, or only those that "
                                            "were completed or cancelled, the last first."),
                                   limit_parameter(kStandardPage, kMaxPage)},
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
       .description = "409 while another run of the task is under way, and when it has ended.",
       .access = Access::kWrite,
       .agent = AgentOf::kHandler,
       .body = may_take(object({may("text", text(limits::kMaxTextBytes), "What to say to it")})),
       .responses = {gives(202, "The run.", named("Run"))},
       .handler = run_task}));
  routes.push_back(update_route());
  routes.push_back(
      {.method = "POST",
       .path = "/v1/tasks/{task_id}/complete",
       .name = "completeTask",
       .tag = "tasks",
       .summary = "Complete a task, and close its thread",
       .description = "A run that ends well does not complete its task.",
       .access = Access::kWrite,
       .agent = AgentOf::kHandler,
       .body = may_take(object({may("note", text(limits::kMaxTaskNoteBytes), "How it was done")})),
       .responses = {gives(200, "The task.", named("Task"))},
       .handler = complete_task});
  routes.push_back({.method = "POST",
                    .path = "/v1/tasks/{task_id}/cancel",
                    .name = "cancelTask",
                    .tag = "tasks",
                    .summary = "Stop a task and its parts for good, and close their threads",
                    .access = Access::kWrite,
                    .agent = AgentOf::kHandler,
                    .responses = {gives(200, "The task.", named("Task"))},
                    .handler = cancel_task});
  return routes;
}

}  // namespace skein::http::v1
