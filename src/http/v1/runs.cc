#include "api/runs.h"

#include <algorithm>

#include "api/threads.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "http/v1/run_answers.h"
#include "skein/limits.h"
#include "skein/runner.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kStandardPage = 50;
constexpr std::size_t kMaxPage = 1000;
constexpr std::int64_t kMaxTimeoutMs = 24LL * 3600 * 1000;
constexpr std::uint64_t kMaxWaitMs = 3600ULL * 1000;

// --- Starting ---

Outcome<RunRequest> request_in(Service& service, const Request& request) {
  JsonFields fields = body_of(request);
  RunRequest wanted;
  wanted.agent_id = text_in(fields, "agentId").value_or("");
  if (const auto thread = text_in(fields, "threadId")) {
    SKEIN_ASSIGN_OR_REFUSE(const Manifest manifest, seen_thread(service, request, *thread));
    wanted.thread_id = manifest.id.str();
    if (wanted.agent_id.empty()) wanted.agent_id = manifest.agent_id;
  }
  if (wanted.agent_id.empty()) wanted.agent_id = service.settings().default_agent;
  SKEIN_TRY_OR_REFUSE(check_sees(request, wanted.agent_id));
  const auto said = text_in(fields, "text");
  const Json messages = json_in(fields, "messages");
  if (said && !messages.empty()) {
    return refuse(400, "invalid", "body.text and body.messages exclude each other");
  }
  if (said) wanted.input.messages.emplace_back().text = *said;
  for (const RawJson message : json_elements(messages.text())) {
    wanted.input.messages.push_back(message_in(message));
  }
  if (const auto word = text_in(fields, "multitask")) {
    SKEIN_ASSIGN_OR_REFUSE(wanted.multitask, parse_multitask(*word));
  }
  wanted.metadata = json_in(fields, "metadata");
  wanted.thread_metadata = json_in(fields, "threadMetadata");
  SKEIN_TRY_OR_REFUSE(check_has_no_mark(wanted.thread_metadata));
  wanted.base = number_in(fields, "base");
  if (const auto ms = number_in(fields, "timeoutMs")) {
    wanted.timeout = std::chrono::milliseconds(*ms);
  }
  return wanted;
}

Reply start_run(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const RunRequest wanted, request_in(service, request));
  SKEIN_ASSIGN_OR_REFUSE(const Run run, service.runner().start(wanted));
  return run_response(202, run);
}

// Happens once by its key; the waiting is not part of what is answered again.
Route with_wait(Route route) {
  route.parameters.push_back(
      in_query("wait", truth(), "Answer when the run has ended, with its outcome (200)."));
  route.responses.push_back(gives(200, "With `wait`: how it ended.", named("RunOutcome")));
  // A run whose end nobody can be told is not begun.
  route.goes_on = [](const Request& request) {
    return request.query_flag("wait").value_or(std::nullopt).value_or(false);
  };
  route.handler = [handler = std::move(route.handler)](Service& service,
                                                       Request& request) -> Reply {
    SKEIN_ASSIGN_OR_REFUSE(const auto wait, request.query_flag("wait"));
    Reply started = handler(service, request);
    if (!started || !wait.value_or(false)) return started;
    const std::string run_id = JsonFields(*started->body).take_string("runId").value_or("");
    std::vector<HttpHeader> headers;
    for (const HttpHeader& header : started->headers) {
      if (header.name == kIdempotentReplayed) headers.push_back(header);
    }
    return wait_for_run(service, run_id, std::chrono::milliseconds(0), std::move(headers));
  };
  return route;
}

// --- Looking ---

Reply list_runs(Service& service, Request& request) {
  RunQuery query;
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  if (const auto thread = request.query("threadId")) {
    SKEIN_ASSIGN_OR_REFUSE(const Manifest manifest, seen_thread(service, request, *thread));
    query.thread = manifest.id;
  }
  SKEIN_ASSIGN_OR_REFUSE(query.status, parsed(request, "status", parse_run_status));
  SKEIN_ASSIGN_OR_REFUSE(const std::size_t limit, limit_of(request, kStandardPage, kMaxPage));
  query.limit = std::min(limit + 1, kMaxPage);
  query.before = request.query("cursor").value_or("");
  if (!query.before.empty()) {
    SKEIN_TRY_OR_REFUSE(called("cursor", "run id", thread_of_run(query.before)));
  }
  std::vector<Run> runs;
  if (scope.all) {
    SKEIN_ASSIGN_OR_REFUSE(runs, service.runner().list(query));
  }
  for (const std::string& agent : scope.all ? std::vector<std::string>() : scope.agents) {
    query.agent_id = agent;
    SKEIN_ASSIGN_OR_REFUSE(std::vector<Run> more, service.runner().list(query));
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  // Ids grow with time.
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.id > b.id; });
  std::string next;
  // Of the largest page nobody knows whether it is the last one.
  if (runs.size() > limit || runs.size() == kMaxPage) {
    runs.resize(limit);
    next = runs.back().id;
  }
  std::vector<std::string> shown;
  for (const Run& run : runs) shown.push_back(to_json(run));
  return json_response(page_json("runs", std::move(shown), next));
}

Reply get_run(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const Run run, service.runner().get(request.parameter("run_id")));
  return run_response(200, run);
}

Reply wait_run(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const auto ms, request.query_number("timeoutMs", 1, kMaxWaitMs));
  return wait_for_run(service, request.parameter("run_id"),
                      std::chrono::milliseconds(ms.value_or(0)));
}

// --- Steering ---

Reply cancel_run(Service& service, Request& request) {
  const std::string& id = request.parameter("run_id");
  SKEIN_ASSIGN_OR_REFUSE(const bool cancelled, service.runner().cancel(id));
  SKEIN_ASSIGN_OR_REFUSE(const Run run, service.runner().get(id));
  return json_response(
      JsonObject().add("cancelled", cancelled).add_json("run", to_json(run)).str());
}

Reply answer_run(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  RunAnswer answer;
  answer.yes = fields.take_bool("yes").value_or(false);
  answer.note = text_in(fields, "note").value_or("");
  answer.calls = fields.take_strings("calls").value_or(std::vector<std::string>());
  if (const auto resumed = fields.take_int("resumed")) {
    answer.resumed = static_cast<std::uint32_t>(std::min<std::int64_t>(*resumed, UINT32_MAX));
  }
  SKEIN_ASSIGN_OR_REFUSE(const Run run,
                         service.runner().start_resume(request.parameter("run_id"), answer));
  return run_response(202, run);
}

Route start_route() {
  return {.method = "POST",
          .path = "/v1/runs",
          .name = "startRun",
          .tag = "runs",
          .summary = "Have an agent work on a thread",
          .description =
              "Answers when the run's record is durable; its stream, or `wait`, tells "
              "the rest.",
          .access = Access::kWrite,
          .agent = AgentOf::kHandler,
          .body = takes(
              object({may("agentId", some_text(limits::kMaxAgentIdBytes),
                          "Absent: the thread's, or the workspace's default agent"),
                      may("threadId", some_text(64), "Absent: a new thread"),
                      may("text", text(limits::kMaxTextBytes), "What the user says"),
                      may("messages", list(named("NewMessage"), limits::kMaxRunMessages),
                          "Or several messages; neither: goes on with what the thread has"),
                      may("multitask", choice({"enqueue", "reject", "interrupt", "rollback"}),
                          "What becomes of it on a busy thread; absent: enqueue"),
                      may("metadata", pairs(anything()), "Of the run"),
                      may("threadMetadata", pairs(anything()), "Of a new thread"),
                      may("base", whole(0), "Continue from this event instead of the last"),
                      may("timeoutMs", whole(1, kMaxTimeoutMs), "Shorter than the agent's own")})),
          .responses = {gives(202, "The run.", named("Run"))},
          .handler = start_run};
}

Route list_route() {
  return {.method = "GET",
          .path = "/v1/runs",
          .name = "listRuns",
          .tag = "runs",
          .summary = "List runs, the newest first",
          .access = Access::kRead,
          .agent = AgentOf::kHandler,
          .parameters = {agent_parameter(),
                         in_query("threadId", some_text(64), "Only those on this thread."),
                         in_query("status", named("RunStatus"), "Only those with this status."),
                         limit_parameter(kStandardPage, kMaxPage), cursor_parameter()},
          .responses = {gives(200, "A page.", named("RunPage"))},
          .handler = list_runs};
}

}  // namespace

std::vector<Route> run_routes() {
  std::vector<Route> routes;
  routes.push_back(with_wait(once(start_route())));
  routes.push_back(list_route());
  routes.push_back({.method = "GET",
                    .path = "/v1/runs/{run_id}",
                    .name = "getRun",
                    .tag = "runs",
                    .summary = "What is known of a run",
                    .access = Access::kRead,
                    .agent = AgentOf::kRun,
                    .responses = {gives(200, "The run.", named("Run"))},
                    .handler = get_run});
  routes.push_back({.method = "GET",
                    .path = "/v1/runs/{run_id}/wait",
                    .name = "waitForRun",
                    .tag = "runs",
                    .summary = "Wait until a run has ended, and get its outcome",
                    .access = Access::kRead,
                    .agent = AgentOf::kRun,
                    .parameters = {in_query("timeoutMs", whole(1, kMaxWaitMs),
                                            "Answer with the run as it is when this is over.")},
                    .responses = {gives(200, "How it ended, or where it is.", named("RunOutcome"))},
                    .handler = wait_run});
  routes.push_back(
      {.method = "POST",
       .path = "/v1/runs/{run_id}/cancel",
       .name = "cancelRun",
       .tag = "runs",
       .summary = "Stop a run, in whatever process it is, or drop its question",
       .description = "Does not wait for its end. What it wrote stays.",
       .access = Access::kWrite,
       .agent = AgentOf::kRun,
       .responses = {gives(200, "`cancelled` is false if it had ended.",
                           object({must("cancelled", truth()), must("run", named("Run"))}))},
       .handler = cancel_run});
  routes.push_back(once(
      {.method = "POST",
       .path = "/v1/runs/{run_id}/answer",
       .name = "answerRun",
       .tag = "runs",
       .summary = "Answer a run that waits for a person's yes, and go on with it",
       .access = Access::kWrite,
       .agent = AgentOf::kRun,
       .body = takes(object(
           {must("yes", truth()), may("note", text(limits::kMaxItemTextChars), "Said with a no"),
            may("calls", list(text(256), limits::kMaxToolCallsPerTurn), "Yes to these only"),
            may("resumed", whole(0),
                "`resumed` of the run when it asked (0 if it has none): refused with 409 when it "
                "asks something else by now")})),
       .responses = {gives(202, "The run.", named("Run"))},
       .handler = answer_run}));
  return routes;
}

}  // namespace skein::http::v1
