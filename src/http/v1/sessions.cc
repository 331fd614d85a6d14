#include "api/work/answers.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/limits.h"
#include "skein/work_sessions.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kMaxShownItems = 1000;

Reply start_session(Service& service, Request& request) {
  const Stopwatch watch;
  JsonFields fields = body_of(request);
  StartSession wanted;
  wanted.agent = text_in(fields, "agent").value_or(service.settings().default_agent);
  SKEIN_TRY_OR_REFUSE(check_agent_id(wanted.agent));
  wanted.project = text_in(fields, "project");
  wanted.session_id = text_in(fields, "session_id");
  wanted.carry_from = text_in(fields, "carry_from");
  wanted.max_items =
      static_cast<std::size_t>(number_in(fields, "max_items").value_or(wanted.max_items));
  SKEIN_ASSIGN_OR_REFUSE(const StartedSession started, service.sessions().start(wanted));
  return json_response(201, session_start_answer(started, watch))
      .header("Location", "/v1/sessions/" + started.session.id);
}

Reply list_sessions(Service& service, Request&) {
  SKEIN_ASSIGN_OR_REFUSE(const auto unclosed, service.sessions().unclosed(kMaxUnclosedSessions));
  std::vector<std::string> sessions;
  for (const WorkSession& session : unclosed) sessions.push_back(work_session_json(session));
  return json_response(JsonObject().add_json("sessions", json_array_of(sessions)).str());
}

Reply get_session(Service& service, Request& request) {
  const std::string& id = request.parameter("session_id");
  SKEIN_TRY_OR_REFUSE(check_session_id(id));
  SKEIN_ASSIGN_OR_REFUSE(const auto session, service.sessions().get(id));
  if (!session) return refuse(404, "not_found", "there is no working session " + id);
  return json_response(work_session_json(*session));
}

Reply close_session(Service& service, Request& request) {
  const Stopwatch watch;
  const std::string& id = request.parameter("session_id");
  SKEIN_TRY_OR_REFUSE(check_session_id(id));
  SKEIN_ASSIGN_OR_REFUSE(CloseSession wanted,
                         CloseSession::parse(request.body.empty() ? "{}" : request.body));
  wanted.session_id = id;
  SKEIN_ASSIGN_OR_REFUSE(const ClosedSession closed, service.sessions().close(wanted));
  return json_response(session_close_answer(closed, watch));
}

Reply close_stale_sessions(Service& service, Request&) {
  const Timestamp before{service.clock().now().us - kStaleSessionUs};
  SKEIN_ASSIGN_OR_REFUSE(const auto closed, service.sessions().close_unclosed(before));
  return json_response(closed_sessions_answer(closed));
}

}  // namespace

std::vector<Route> session_routes() {
  std::vector<Route> routes;
  routes.push_back(workspace_wide(
      once({.method = "POST",
            .path = "/v1/sessions",
            .name = "startSession",
            .tag = "sessions",
            .summary = "Begin a working session with what is open",
            .description = "A session that is known is gone on with.",
            .access = Access::kWrite,
            .body = may_take(object(
                {may("agent", some_text(limits::kMaxAgentIdBytes)),
                 may("project", some_text(limits::kMaxProjectBytes)),
                 may("session_id", some_text(limits::kMaxWorkSessionIdBytes), "Absent: a new one"),
                 may("carry_from", some_text(limits::kMaxWorkSessionIdBytes),
                     "A closed session whose items are taken, however old it is"),
                 may("max_items", with_default(whole(0, kMaxShownItems), "50"))})),
            .responses = {gives(201, "The session, and where the work stands.",
                                named("StartedSession"))},
            .handler = start_session})));
  routes.push_back(
      workspace_wide({.method = "GET",
                      .path = "/v1/sessions",
                      .name = "listOpenSessions",
                      .tag = "sessions",
                      .summary = "Open working sessions of this place, the newest first",
                      .access = Access::kRead,
                      .responses = {gives(200, "The sessions.",
                                          object({must("sessions", list(named("WorkSession")))}))},
                      .handler = list_sessions}));
  routes.push_back(workspace_wide({.method = "GET",
                                   .path = "/v1/sessions/{session_id}",
                                   .name = "getSession",
                                   .tag = "sessions",
                                   .summary = "A working session",
                                   .access = Access::kRead,
                                   .responses = {gives(200, "The session.", named("WorkSession"))},
                                   .handler = get_session}));
  routes.push_back(workspace_wide(
      {.method = "POST",
       .path = "/v1/sessions/{session_id}/close",
       .name = "closeSession",
       .tag = "sessions",
       .summary = "End a working session, and store what is open still",
       .access = Access::kWrite,
       .body = may_take(record(
           {may("summary", text(limits::kMaxSessionNotesBytes)),
            may("project_state", text(limits::kMaxItemTextChars), "Becomes a PROJECT STATE: item"),
            may("decisions", list(anything())), may("learnings", list(anything())),
            may("open_threads", list(anything(), kMaxClosingItems),
                "What is open: texts, or items in any of the known formats")})),
       .responses = {gives(200, "The session as it ended.", named("ClosedSession"))},
       .handler = close_session}));
  routes.push_back(
      workspace_wide({.method = "POST",
                      .path = "/v1/sessions/close-stale",
                      .name = "closeStaleSessions",
                      .tag = "sessions",
                      .summary = "End the working sessions that began more than 24 hours ago",
                      .access = Access::kWrite,
                      .responses = {gives(200, "The sessions as they ended.",
                                          object({must("closed", list(named("WorkSession")))}))},
                      .handler = close_stale_sessions}));
  return routes;
}

}  // namespace skein::http::v1
