#include "api/threads.h"

#include "core/json_array.h"
#include "core/quote.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/limits.h"
#include "skein/thread_manager.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kStandardPage = 50;
constexpr std::size_t kMaxInitialMessages = 1000;

Result<ListOrder> parse_order(std::string_view text) {
  if (text == "created") return ListOrder::kCreatedNewestFirst;
  if (text == "oldest") return ListOrder::kCreatedOldestFirst;
  return ListOrder::kUpdatedNewestFirst;
}

Result<ThreadPage> threads_of(Store& store, const ListQuery& query, const AgentScope& scope,
                              const std::optional<std::string>& text) {
  if (text) {
    std::optional<std::vector<std::string>> agents;
    if (!scope.all) agents = scope.agents;
    return find_threads(store, query, agents, *text);
  }
  return scope.all ? store.list(query) : list_threads_of(store, query, scope.agents);
}

Reply list_threads(Service& service, Request& request) {
  ListQuery query;
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  SKEIN_ASSIGN_OR_REFUSE(query.status, parsed(request, "status", parse_status));
  SKEIN_ASSIGN_OR_REFUSE(query.metadata, metadata_of(request));
  SKEIN_ASSIGN_OR_REFUSE(const auto order, parsed(request, "order", parse_order));
  SKEIN_ASSIGN_OR_REFUSE(query.limit, limit_of(request, kStandardPage, limits::kMaxPageSize));
  SKEIN_ASSIGN_OR_REFUSE(const auto with_total, request.query_flag("total"));
  query.order = order.value_or(ListOrder::kUpdatedNewestFirst);
  query.after = request.query("cursor").value_or("");
  query.with_total = with_total.value_or(false);
  const auto text = request.query("text");
  if (text && query.with_total) {
    return refuse(400, "invalid", "total cannot be counted together with text");
  }
  SKEIN_ASSIGN_OR_REFUSE(
      const ThreadPage page,
      called("cursor", "after", threads_of(service.store(), query, scope, text)));
  std::vector<std::string> threads;
  for (const Manifest& manifest : page.threads) threads.push_back(thread_json(manifest));
  std::string json = page_json("threads", std::move(threads), page.next);
  if (page.total) {
    json.back() = ',';
    json += "\"total\":" + std::to_string(*page.total) + "}";
  }
  return json_response(std::move(json));
}

// What a task is about becomes part of the prompts of its threads: whoever sees some agents only
// may name a task of these alone.
Outcome<void> check_task(Service& service, const Request& request, JsonFields& fields) {
  const auto id = text_in(fields, "taskId");
  if (!id || request.caller.all_agents) return {};
  const auto info = service.tasks().show(*id);
  if (info && request.caller.sees(info->task.agent_id)) return {};
  if (!info && info.error().code != ErrorCode::kNotFound) {
    return tl::unexpected(Problem(info.error()));
  }
  return refuse(404, "not_found", "there is no task " + quote(*id));
}

Reply create_thread(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  NewConversation wanted;
  wanted.agent_id = text_in(fields, "agentId").value_or(service.settings().default_agent);
  SKEIN_TRY_OR_REFUSE(check_sees(request, wanted.agent_id));
  JsonFields named = body_of(request);
  SKEIN_TRY_OR_REFUSE(check_task(service, request, named));
  wanted.title = text_in(fields, "title");
  wanted.task_id = text_in(fields, "taskId");
  wanted.alias = text_in(fields, "alias");
  wanted.metadata = json_in(fields, "metadata");
  SKEIN_TRY_OR_REFUSE(check_has_no_mark(wanted.metadata));
  wanted.system_message = text_in(fields, "system");
  const Json messages = json_in(fields, "messages");
  for (const RawJson message : json_elements(messages.text())) {
    wanted.initial_messages.push_back(message_in(message));
  }
  SKEIN_ASSIGN_OR_REFUSE(const Manifest made, service.threads().create(wanted));
  return thread_response(201, made);
}

Reply get_thread(Service&, Request& request) { return thread_response(200, *request.thread); }

// What an answer says of a thread besides its own fields, and what runs do, is nobody's to set.
Outcome<void> check_updatable(const JsonFields& fields) {
  for (const JsonFields::Field& field : fields.others()) {
    for (const std::string_view own : {"lastSeq", "etag", "runStatus"}) {
      if (field.name != own) continue;
      return refuse(
          400, "invalid",
          "body." + field.name + " is set by the server alone, got " + excerpt(field.value));
    }
  }
  return {};
}

Reply update_thread(Service& service, Request& request) {
  const Manifest& thread = *request.thread;
  SKEIN_ASSIGN_OR_REFUSE(const auto version, expected_version(request, thread));
  JsonFields fields = body_of(request);
  SKEIN_TRY_OR_REFUSE(check_task(service, request, fields));
  SKEIN_TRY_OR_REFUSE(check_updatable(fields));
  SKEIN_TRY_OR_REFUSE(check_has_no_mark(json_in(fields, "metadata")));
  SKEIN_ASSIGN_OR_REFUSE(const ManifestPatch patch, ManifestPatch::parse(request.body));
  const auto updated =
      service.threads().update(thread.id.str(), patch, {.expect_version = version, .fence = {}});
  if (updated) return thread_response(200, *updated);
  if (version && updated.error().code == ErrorCode::kConflict) {
    // Somebody was faster, or another rule was broken: only the first is what If-Match asked.
    SKEIN_ASSIGN_OR_REFUSE(const Manifest now, find_thread(service.store(), thread.id));
    if (now.version != *version) {
      return refuse(412, "precondition_failed",
                    "the thread was changed meanwhile: its ETag is " + etag_of(now));
    }
  }
  return tl::unexpected(Problem(updated.error()));
}

Reply delete_thread(Service& service, Request& request) {
  SKEIN_TRY_OR_REFUSE(service.threads().remove(request.thread->id.str()));
  return no_content();
}

Reply set_status(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  const std::string thread = request.thread->id.str();
  SKEIN_ASSIGN_OR_REFUSE(const ThreadStatus status,
                         parse_status(text_in(fields, "status").value_or("")));
  const CloseOptions close{text_in(fields, "summary"), text_in(fields, "resolution")};
  ArchiveOptions archive;
  archive.retention_days = fields.take_int("retentionDays");
  archive.reason = text_in(fields, "reason");
  const bool closes = close.summary || close.resolution;
  const bool archives = archive.retention_days || archive.reason;
  if (closes && status != ThreadStatus::kClosed) {
    return refuse(400, "invalid", "summary and resolution go with the status closed");
  }
  if (archives && status != ThreadStatus::kArchived) {
    return refuse(400, "invalid", "retentionDays and reason go with the status archived");
  }
  Result<Manifest> changed = closes     ? service.threads().close(thread, close)
                             : archives ? service.threads().archive(thread, archive)
                                        : service.threads().update_status(thread, status);
  SKEIN_TRY_OR_REFUSE(changed);
  return thread_response(200, *changed);
}

Reply fork_thread(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  const Seq seq = number_in(fields, "seq").value_or(kLastSeq);
  SKEIN_ASSIGN_OR_REFUSE(const Manifest fork,
                         skein::fork_thread(service.store(), request.thread->id, seq));
  return thread_response(201, fork);
}

Reply pin(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const Seq seq, seq_in_path(request, "seq"));
  SKEIN_ASSIGN_OR_REFUSE(const Manifest pinned,
                         service.threads().pin(request.thread->id.str(), seq));
  return thread_response(200, pinned);
}

Reply unpin(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const Seq seq, seq_in_path(request, "seq"));
  SKEIN_ASSIGN_OR_REFUSE(const Manifest unpinned,
                         service.threads().unpin(request.thread->id.str(), seq));
  return thread_response(200, unpinned);
}

Shape new_thread_shape() {
  return object(
      {may("agentId", some_text(limits::kMaxAgentIdBytes), "Absent: the workspace's default agent"),
       may("title", text(1000)), may("taskId", some_text(256)),
       may("alias", text(36), "A UUID of your own that names the thread from now on"),
       may("metadata", pairs(anything())),
       may("system", text(limits::kMaxTextBytes), "A system message to begin with"),
       may("messages", list(named("NewMessage"), kMaxInitialMessages))});
}

Route list_route() {
  return {
      .method = "GET",
      .path = "/v1/threads",
      .name = "listThreads",
      .tag = "threads",
      .summary = "List threads, the last updated first",
      .access = Access::kRead,
      .agent = AgentOf::kHandler,
      .parameters = {agent_parameter(),
                     in_query("status", named("ThreadStatus"), "Only those with this status."),
                     metadata_parameter(),
                     in_query("text", some_text(1024),
                              "Only those with this in their title, id or metadata, whatever "
                              "the case. Pages may then be short, or empty, though `next` is "
                              "there. What was said is found by /v1/search."),
                     in_query("order",
                              with_default(choice({"updated", "created", "oldest"}), "\"updated\""),
                              "Last updated, newest or oldest first."),
                     limit_parameter(kStandardPage, limits::kMaxPageSize), cursor_parameter(),
                     in_query("total", truth(), "Count all that match, too.")},
      .responses = {gives(200, "A page. Following `next` shows no thread twice.",
                          named("ThreadPage"))},
      .handler = list_threads};
}

Route status_route() {
  return {.method = "POST",
          .path = "/v1/threads/{thread_id}/status",
          .name = "setThreadStatus",
          .tag = "threads",
          .summary = "Pause, resume, close, archive or restore a thread",
          .description =
              "active and paused change freely; either may be closed, and a closed one archived "
              "(an open one is closed first). An archived one can be closed again (restored); a "
              "closed one never reopens: fork it. To the status that it has, nothing happens.",
          .access = Access::kWrite,
          .agent = AgentOf::kThread,
          .body = takes(object({must("status", named("ThreadStatus")),
                                may("summary", text(65536), "With closed"),
                                may("resolution", text(256), "With closed"),
                                may("retentionDays", whole(0, 36500), "With archived"),
                                may("reason", text(1024), "With archived")})),
          .responses = {gives(200, "The thread as it is now.", named("Thread"))},
          .handler = set_status};
}

Route pin_route(const char* method, const char* name, const char* summary, Handler handler) {
  return {.method = method,
          .path = "/v1/threads/{thread_id}/pins/{seq}",
          .name = name,
          .tag = "threads",
          .summary = summary,
          .access = Access::kWrite,
          .agent = AgentOf::kThread,
          .parameters = {in_path("seq", whole(1), "The event.")},
          .responses = {gives(200, "The thread as it is now.", named("Thread"))},
          .handler = std::move(handler)};
}

}  // namespace

std::vector<Route> thread_routes() {
  std::vector<Route> routes;
  routes.push_back(list_route());
  routes.push_back(once({.method = "POST",
                         .path = "/v1/threads",
                         .name = "createThread",
                         .tag = "threads",
                         .summary = "Make a thread, with its first messages",
                         .access = Access::kWrite,
                         .agent = AgentOf::kHandler,
                         .body = may_take(new_thread_shape()),
                         .responses = {gives(201, "The thread, and where it is.", named("Thread"))},
                         .handler = create_thread}));
  routes.push_back({.method = "GET",
                    .path = "/v1/threads/{thread_id}",
                    .name = "getThread",
                    .tag = "threads",
                    .summary = "All that is known of a thread besides its events",
                    .access = Access::kRead,
                    .agent = AgentOf::kThread,
                    .responses = {gives(200, "The thread, with its ETag.", named("Thread"))},
                    .handler = get_thread});
  routes.push_back(
      {.method = "PATCH",
       .path = "/v1/threads/{thread_id}",
       .name = "updateThread",
       .tag = "threads",
       .summary = "Change a thread's title, metadata, or fields of your own",
       .description =
           "A shallow merge: each field is replaced whole, and null clears it. An update "
           "that changes nothing leaves updatedAt alone. The status "
           "and pins have routes of their own.",
       .access = Access::kWrite,
       .agent = AgentOf::kThread,
       .parameters = {{.name = "If-Match",
                       .in = ParameterIn::kHeader,
                       .description = "The thread's ETag: if it was changed since, 412."}},
       .body = takes(
           record({may("title", or_null(text(1000))), may("metadata", or_null(pairs(anything()))),
                   may("taskId", or_null(text())),
                   may("sessionId", nothing(),
                       "Forgets the engine's session: the next run starts a new one. Runs alone "
                       "set it")})),
       .responses = {gives(200, "The thread as it is now.", named("Thread")),
                     {.status = 412,
                      .description = "The thread was changed since that ETag. Nothing happened.",
                      .schema = named("Problem"),
                      .content_type = "application/problem+json"}},
       .handler = update_thread});
  routes.push_back({.method = "DELETE",
                    .path = "/v1/threads/{thread_id}",
                    .name = "deleteThread",
                    .tag = "threads",
                    .summary = "Remove a thread with all its events, for good",
                    .description = "Forks of it stay, and so does what it cost.",
                    .access = Access::kWrite,
                    .agent = AgentOf::kThread,
                    .responses = {gives_nothing("It is gone.")},
                    .handler = delete_thread});
  routes.push_back(status_route());
  routes.push_back(
      once({.method = "POST",
            .path = "/v1/threads/{thread_id}/fork",
            .name = "forkThread",
            .tag = "threads",
            .summary = "Make a thread that starts with a copy of this one",
            .access = Access::kWrite,
            .agent = AgentOf::kThread,
            .body = may_take(object({may("seq", whole(0), "Up to this event; absent: all")})),
            .responses = {gives(201, "The new thread.", named("Thread"))},
            .handler = fork_thread}));
  routes.push_back(pin_route("PUT", "pinEvent", "Keep an event in mind for context windows", pin));
  routes.push_back(pin_route("DELETE", "unpinEvent", "Take a pin away", unpin));
  return routes;
}

}  // namespace skein::http::v1
