#include "api/append_lines.h"
#include "api/event_page.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "http/thread_stream.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kStandardPage = 100;
constexpr std::size_t kMaxBatch = 1000;  // events of one request

// --- Reading ---

Outcome<EventPageQuery> page_query(const Request& request) {
  EventPageQuery query;
  SKEIN_ASSIGN_OR_REFUSE(query.limit, limit_of(request, kStandardPage, limits::kMaxPageSize));
  SKEIN_ASSIGN_OR_REFUSE(const auto after, request.query_number("after", 0, kLastSeq - 1));
  query.after = after.value_or(0);
  if (request.query("order") == "desc") query.direction = Direction::kBackward;
  query.cursor = request.query("cursor").value_or("");
  return query;
}

Reply list_events(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(EventPageQuery query, page_query(request));
  if (request.query("view") == "path") query.view = View::kPath;
  SKEIN_ASSIGN_OR_REFUSE(EventPage page, read_event_page(service.store(), *request.thread, query));
  return json_response(page_json("events", std::move(page.events), page.next));
}

Reply list_messages(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(EventPageQuery query, page_query(request));
  query.view = View::kPath;
  query.messages = true;
  SKEIN_ASSIGN_OR_REFUSE(query.role, parsed(request, "role", parse_role));
  SKEIN_ASSIGN_OR_REFUSE(const auto offset, request.query_number("offset", 0, kLastSeq - 1));
  query.offset = offset.value_or(0);
  if (query.offset > 0 && !query.cursor.empty()) {
    return refuse(400, "invalid", "offset is for the first page: a cursor has it already");
  }
  SKEIN_ASSIGN_OR_REFUSE(EventPage page, read_event_page(service.store(), *request.thread, query));
  return json_response(page_json("messages", std::move(page.events), page.next));
}

Reply get_event(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const Seq seq, seq_in_path(request, "seq"));
  std::string found;
  const ReadRange range{.from = seq, .limit = 1};
  SKEIN_TRY_OR_REFUSE(service.store().read(request.thread->id, range, [&](Event& event) {
    if (event.seq == seq) found = to_json(event);
    return false;
  }));
  if (!found.empty()) return json_response(std::move(found));
  return refuse(404, "not_found",
                "thread " + request.thread->id.str() + " has no event " + std::to_string(seq));
}

// --- Appending ---

std::string appended_json(const Appended& appended) {
  JsonObject object;
  object.add("seq", appended.seq);
  if (appended.repeated) object.add("repeated", true);
  return object.str();
}

std::string refused_json(const Error& error) {
  const std::string cause =
      JsonObject().add("code", to_string(error.code)).add("message", error.message).str();
  return JsonObject().add_json("error", cause).str();
}

ThreadId thread_of(const Request& request) {
  return request.thread ? request.thread->id : *request.thread_id;
}

Outcome<std::optional<LeaseToken>> fence_of(const Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const auto fence, request.query_number("fence", 1, kLastSeq - 1));
  return std::optional<LeaseToken>(fence);
}

// Hands appends to the pump, and answers when they are on disk.
Reply pump(Service& service, std::vector<Append> appends,
           std::function<Reply(std::vector<Result<Appended>>)> make_reply) {
  auto waiting = std::make_shared<std::vector<Append>>(std::move(appends));
  return answer_later([&service, waiting, make_reply = std::move(make_reply)](Answer answer) {
    const auto submitted = service.pump().submit(
        std::move(*waiting),
        [answer, make_reply](auto results) { answer(make_reply(std::move(results))); });
    if (!submitted) answer(refuse(503, "overloaded", submitted.error().message));
  });
}

Reply append_event(Service& service, Request& request) {
  const ThreadId thread = thread_of(request);
  SKEIN_ASSIGN_OR_REFUSE(const auto fence, fence_of(request));
  SKEIN_ASSIGN_OR_REFUSE(Append append, append_of(thread, trim_json(request.body), fence));
  if (const auto key = request.header("Idempotency-Key")) {
    if (!append.event.key.empty() && append.event.key != *key) {
      return refuse(400, "invalid", "body.key and Idempotency-Key are two keys: give one");
    }
    append.event.key = *key;
  }
  std::vector<Append> appends;
  appends.push_back(std::move(append));
  return pump(service, std::move(appends), [](std::vector<Result<Appended>> results) -> Reply {
    const Result<Appended>& result = results.front();
    if (!result) return tl::unexpected(Problem(result.error()));
    return json_response(result->repeated ? 200 : 201, appended_json(*result));
  });
}

Reply append_events(Service& service, Request& request) {
  const ThreadId thread = thread_of(request);
  SKEIN_ASSIGN_OR_REFUSE(const auto fence, fence_of(request));
  JsonFields fields = body_of(request);
  const Json events = json_in(fields, "events");
  const auto prefix = request.header("Idempotency-Key");
  std::vector<Append> appends;
  // By place: those that are no events are answered without having been asked for.
  std::vector<std::optional<Error>> refused;
  for (const RawJson json : json_elements(events.text())) {
    auto append = append_of(thread, json, fence);
    refused.push_back(append ? std::nullopt : std::optional(append.error()));
    if (!append) continue;
    if (prefix && append->event.key.empty()) {
      append->event.key = *prefix + "/" + std::to_string(refused.size());
    }
    appends.push_back(std::move(*append));
  }
  auto make_reply = [refused = std::move(refused)](std::vector<Result<Appended>> results) -> Reply {
    std::vector<std::string> answers;
    std::size_t next = 0;
    for (const std::optional<Error>& error : refused) {
      if (error) {
        answers.push_back(refused_json(*error));
        continue;
      }
      const Result<Appended>& result = results[next++];
      answers.push_back(result ? appended_json(*result) : refused_json(result.error()));
    }
    return json_response(JsonObject().add_json("results", json_array_of(answers)).str());
  };
  if (appends.empty()) return make_reply({});
  return pump(service, std::move(appends), std::move(make_reply));
}

Reply add_message(Service& service, Request& request) {
  NewMessage message = message_in(trim_json(request.body));
  if (const auto key = request.header("Idempotency-Key")) {
    if (!message.key.empty() && message.key != *key) {
      return refuse(400, "invalid", "body.key and Idempotency-Key are two keys: give one");
    }
    message.key = *key;
  }
  SKEIN_ASSIGN_OR_REFUSE(const ThreadMessage added,
                         service.threads().add_message(request.thread->id.str(), message));
  return json_response(201, to_json(added));
}

// --- Following ---

Reply stream_events(ThreadFrames& frames, const Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const auto after, request.query_number("after", 0, kLastSeq - 1));
  Seq seen = after.value_or(0);
  if (const auto last = request.header("Last-Event-ID")) {
    SKEIN_ASSIGN_OR_REFUSE(seen, parse_seq("Last-Event-ID", *last, 0));
  }
  return stream_response(thread_stream(frames, *request.thread, seen));
}

// --- The routes ---

Parameter after_parameter() {
  return in_query("after", whole(0), "Only events after this position.");
}

Parameter order_parameter() {
  return in_query("order", with_default(choice({"asc", "desc"}), "\"asc\""),
                  "Oldest or newest first.");
}

Parameter fence_parameter() {
  return in_query(
      "fence", whole(1),
      "The token of the thread's lease, for whoever holds it: refused when another took "
      "over, and not asked for the thread's status.");
}

std::vector<Route> reading_routes(const std::shared_ptr<ThreadFrames>& frames) {
  const std::string page_about =
      "A page. It may have fewer than the limit though `next` is there: follow it until it is not.";
  return {
      {.method = "GET",
       .path = "/v1/threads/{thread_id}/events",
       .name = "listEvents",
       .tag = "events",
       .summary = "What happened in a thread",
       .description =
           "The view `path` leaves out what was rolled back or edited away; its pages are "
           "of the thread as it was at the first of them.",
       .access = Access::kRead,
       .agent = AgentOf::kThread,
       .parameters = {after_parameter(), order_parameter(),
                      in_query("view", with_default(choice({"log", "path"}), "\"log\""),
                               "Everything, or the current path."),
                      limit_parameter(kStandardPage, limits::kMaxPageSize), cursor_parameter()},
       .responses = {gives(200, page_about, named("EventPage"))},
       .handler = list_events},
      {.method = "GET",
       .path = "/v1/threads/{thread_id}/events/{seq}",
       .name = "getEvent",
       .tag = "events",
       .summary = "One event",
       .access = Access::kRead,
       .agent = AgentOf::kThread,
       .parameters = {in_path("seq", whole(1), "Its position.")},
       .responses = {gives(200, "The event.", named("Event"))},
       .handler = get_event},
      {.method = "GET",
       .path = "/v1/threads/{thread_id}/messages",
       .name = "listMessages",
       .tag = "messages",
       .summary = "What was said in a thread, as it stands now",
       .description =
           "Messages of the current path. Pages are of the thread as it was at the first.",
       .access = Access::kRead,
       .agent = AgentOf::kThread,
       .parameters = {in_query("role", named("Role"), "Of this role only."), after_parameter(),
                      order_parameter(),
                      in_query("offset", whole(0), "Pass over so many that match first."),
                      limit_parameter(kStandardPage, limits::kMaxPageSize), cursor_parameter()},
       .responses = {gives(200, page_about, named("MessagePage"))},
       .handler = list_messages},
      {.method = "GET",
       .path = "/v1/threads/{thread_id}/stream",
       .name = "streamEvents",
       .tag = "events",
       .summary = "The events of a thread as they come, as server-sent events",
       .description =
           "The name of each is the event's type, its data the event, its id the seq. "
           "Begins after `after`, or after Last-Event-ID; ends when the thread is deleted.",
       .access = Access::kRead,
       .agent = AgentOf::kThread,
       .parameters = {after_parameter(), last_event_id_parameter()},
       .responses = {streams("Events, without end.")},
       .handler = [frames](Service&, Request& request) { return stream_events(*frames, request); }},
  };
}

std::vector<Route> appending_routes() {
  return {
      {.method = "POST",
       .path = "/v1/threads/{thread_id}/events",
       .name = "appendEvent",
       .tag = "events",
       .summary = "Append an event; it is on disk when the answer comes",
       .access = Access::kWrite,
       .agent = AgentOf::kThread,
       .parameters = {idempotency_parameter(
                          "The event's key: accepted once in the thread, and answered with the "
                          "same seq; with another event 409."),
                      fence_parameter()},
       .body = takes(named("NewEvent")),
       .responses = {gives(201, "Its position.", named("Appended")),
                     gives(200, "The key was there already, with the same event.",
                           named("Appended"))},
       .runs_on = RunsOn::kIoThread,
       .handler = append_event},
      {.method = "POST",
       .path = "/v1/threads/{thread_id}/events/batch",
       .name = "appendEvents",
       .tag = "events",
       .summary = "Append several events, in order, with an answer for each",
       .description = "A refusal of one does not keep the others.",
       .access = Access::kWrite,
       .agent = AgentOf::kThread,
       .parameters = {idempotency_parameter("Events without a key get this one, a slash and their "
                                            "place, from 1."),
                      fence_parameter()},
       .body = takes(object({must("events", list(pairs(anything()), kMaxBatch),
                                  "Each a NewEvent; one that is none is refused by itself")})),
       .responses = {gives(
           200, "For each event its position, or why it was refused.",
           object({must("results", list(any_of({named("Appended"), named("RefusedAppend")})))}))},
       .handler = append_events},
      {.method = "POST",
       .path = "/v1/threads/{thread_id}/messages",
       .name = "addMessage",
       .tag = "messages",
       .summary = "Append a message; it is on disk when the answer comes",
       .access = Access::kWrite,
       .agent = AgentOf::kThread,
       .parameters = {idempotency_parameter("The message's key: accepted once in the thread.")},
       .body = takes(named("NewMessage")),
       .responses = {gives(201, "The message as the thread has it.", named("Message"))},
       .handler = add_message},
  };
}

}  // namespace

std::vector<Route> event_routes(const std::shared_ptr<ThreadFrames>& frames) {
  std::vector<Route> routes = reading_routes(frames);
  for (Route& route : appending_routes()) routes.push_back(std::move(route));
  return routes;
}

}  // namespace skein::http::v1
