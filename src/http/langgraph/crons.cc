// Crons are triggers: an agent that runs on a schedule, in a new thread each time.
#include <fmt/format.h>

#include <utility>

#include "api/langgraph/messages.h"
#include "core/json_array.h"
#include "core/json_contains.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/langgraph/listing.h"
#include "http/langgraph/run_start.h"
#include "http/langgraph/shared.h"
#include "skein/triggers.h"

namespace skein::http {
namespace {

constexpr std::string_view kPrefix = "trigger-";
constexpr std::string_view kMetadata = "{}";  // of every cron
constexpr std::string_view kUuidPrefix = "00000000-0000-8000-";

// "trigger-" and 16 digits, as a UUID, and back.
std::string cron_uuid(const std::string& trigger) {
  const std::string digits = trigger.substr(std::min(kPrefix.size(), trigger.size()));
  return fmt::format("{}{}-{}", kUuidPrefix, digits.substr(0, 4), digits.substr(4));
}

std::string trigger_id(std::string_view uuid) {
  if (!uuid.starts_with(kUuidPrefix) || uuid.size() != 36) return std::string(uuid);
  const std::string_view rest = uuid.substr(kUuidPrefix.size());
  return std::string(kPrefix) + std::string(rest.substr(0, 4)) + std::string(rest.substr(5));
}

std::string cron_json(const TriggerInfo& info) {
  const Trigger& trigger = info.trigger;
  const std::string message = JsonObject().add("role", "user").add("content", trigger.text).str();
  const std::string input = JsonObject().add_json("messages", json_array_of({message})).str();
  JsonObject payload;
  payload.add("assistant_id", trigger.agent_id).add_json("input", input);
  const JsonFields kwargs(trigger.kwargs.empty() ? "{}" : trigger.kwargs.text());
  for (const char* name : {"config", "context"}) {
    if (const std::string given = member(kwargs, name); given != "null") {
      payload.add_json(name, given);
    }
  }
  if (trigger.multitask != Multitask::kEnqueue) {
    payload.add("multitask_strategy", to_string(trigger.multitask));
  }
  JsonObject object;
  object.add("cron_id", cron_uuid(trigger.id))
      .add("assistant_id", assistant_uuid(trigger.agent_id))
      .add_json("thread_id", "null")
      .add("schedule", trigger.cron)
      .add("timezone", trigger.zone)
      .add_json("end_time", "null")
      .add("enabled", trigger.enabled)
      .add_json("payload", payload.str())
      .add_json("metadata", kMetadata)
      .add("created_at", trigger.created_at.str())
      .add("updated_at", std::max(trigger.created_at, trigger.since).str());
  if (info.next) {
    object.add("next_run_date", info.next->str());
  } else {
    object.add_json("next_run_date", "null");
  }
  return object.str();
}

// Nothing, where it is absent or null.
std::optional<bool> truth_in(std::string_view body, std::string_view name) {
  return JsonFields(body).take_bool(name);
}

// What a cron says, which is one message of the user.
Result<std::string> text_of(RawJson input) {
  SKEIN_ASSIGN(const auto messages, langgraph::parse_messages(member(input, "messages")));
  if (messages.size() == 1 && messages.front().events.size() == 1) {
    const auto* message = std::get_if<Message>(&messages.front().events.front().payload);
    if (message != nullptr && message->role == Role::kUser) return message->text;
  }
  return fail(ErrorCode::kInvalid, "input of a cron must be one message of the user");
}

Reply create(LangGraph& graph, const Request& request) {
  const std::string assistant = json_to_string(member(request.body, "assistant_id")).value_or("");
  const auto agent = find_agent(graph, request.caller, assistant);
  if (!agent) return tl::unexpected(no_assistant(assistant));
  for (const char* name : {"webhook", "end_time", "interrupt_before", "interrupt_after"}) {
    if (member(request.body, name) != "null") {
      return refuse(422, "not_offered", std::string(name) + " is not offered");
    }
  }
  if (const std::string metadata = member(request.body, "metadata");
      metadata != "null" && metadata != "{}") {
    return refuse(422, "not_offered", "metadata of a cron is not offered");
  }
  if (member(request.body, "on_run_completed") == "\"delete\"") {
    return refuse(422, "not_offered", "on_run_completed must be keep: threads of crons stay");
  }
  NewTrigger trigger;
  trigger.enabled = member(request.body, "enabled") != "false";
  trigger.zone = "UTC";  // as its clients expect
  trigger.agent_id = *agent;
  trigger.cron = json_to_string(member(request.body, "schedule")).value_or("");
  if (const auto zone = json_to_string(member(request.body, "timezone"))) trigger.zone = *zone;
  SKEIN_ASSIGN(trigger.text, text_of(member(request.body, "input")));
  const JsonFields body(request.body);
  auto kwargs = run_kwargs(body);
  if (!kwargs) return tl::unexpected(kwargs.error());
  trigger.kwargs = std::move(*kwargs);
  if (const auto strategy = json_to_string(member(body, "multitask_strategy"))) {
    SKEIN_ASSIGN(trigger.multitask, parse_multitask(*strategy));
  }
  SKEIN_ASSIGN(const Trigger added, graph.service.triggers().add(trigger));
  SKEIN_ASSIGN(const TriggerInfo info, graph.service.triggers().show(added.id));
  return json_response(cron_json(info));
}

Result<std::vector<TriggerInfo>> find_all(LangGraph& graph, const Request& request) {
  const auto assistant = json_to_string(member(request.body, "assistant_id"));
  const auto wanted = assistant ? find_agent(graph, request.caller, *assistant) : std::nullopt;
  const std::string metadata = member(request.body, "metadata");
  const bool none = (assistant && !wanted) || member(request.body, "thread_id") != "null" ||
                    (metadata != "null" && !json_contains(kMetadata, metadata));
  std::vector<TriggerInfo> found;
  if (none) return found;
  const auto enabled = truth_in(request.body, "enabled");
  SKEIN_ASSIGN(auto all, graph.service.triggers().list());
  for (TriggerInfo& info : all) {
    if (!request.caller.sees(info.trigger.agent_id)) continue;
    if (wanted && info.trigger.agent_id != *wanted) continue;
    if (enabled && info.trigger.enabled != *enabled) continue;
    found.push_back(std::move(info));
  }
  return found;
}

Reply search(LangGraph& graph, const Request& request) {
  SKEIN_ASSIGN(const auto found, find_all(graph, request));
  std::vector<std::string> crons;
  for (const TriggerInfo& info : found) crons.push_back(cron_json(info));
  return listed(std::move(crons), request.body);
}

// The id of the trigger in the path. 404 also where the caller does not see its agent.
tl::expected<std::string, Problem> seen_cron(LangGraph& graph, const Request& request) {
  std::string id = trigger_id(request.parameter("cron_id"));
  const auto found = graph.service.triggers().show(id);
  if (found && request.caller.sees(found->trigger.agent_id)) return id;
  return refuse(404, "not_found", "there is no cron " + quote(request.parameter("cron_id")));
}

Reply remove(LangGraph& graph, const Request& request) {
  const auto id = seen_cron(graph, request);
  if (!id) return tl::unexpected(id.error());
  SKEIN_TRY(graph.service.triggers().remove(*id));
  return json_response("{}");
}

Reply update(LangGraph& graph, const Request& request) {
  const auto id = seen_cron(graph, request);
  if (!id) return tl::unexpected(id.error());
  const JsonFields body(request.body);
  for (const JsonFields::Field& field : body.others()) {
    const bool known = field.name == "schedule" || field.name == "timezone" ||
                       field.name == "input" || field.name == "enabled";
    if (!known && field.value != "null") {
      return refuse(422, "not_offered", field.name + " of a cron cannot be changed");
    }
  }
  TriggerChange change;
  change.cron = json_to_string(member(body, "schedule"));
  change.zone = json_to_string(member(body, "timezone"));
  change.enabled = truth_in(request.body, "enabled");
  if (const std::string input = member(body, "input"); input != "null") {
    SKEIN_ASSIGN(change.text, text_of(input));
  }
  SKEIN_TRY(graph.service.triggers().update(*id, change));
  SKEIN_ASSIGN(const TriggerInfo info, graph.service.triggers().show(*id));
  return json_response(cron_json(info));
}

Reply not_offered(LangGraph&, const Request&) {
  return refuse(422, "not_offered", "a cron begins a new thread each time");
}

constexpr const char* kCreateBody =
    R"({"type":"object","required":["assistant_id","schedule"],"properties":{)"
    R"("assistant_id":{"type":"string"},"schedule":{"type":"string"},)"
    R"("timezone":{"type":["string","null"]},"input":{"type":["object","null"]},)"
    R"("enabled":{"type":["boolean","null"]},"metadata":{"type":["object","null"]},)"
    R"("config":{"type":["object","null"]},"context":{"type":["object","null"]},)"
    R"("multitask_strategy":{"enum":["reject","rollback","interrupt","enqueue",null]},)"
    R"("stream_mode":{"type":["string","array","null"]},)"
    R"("on_run_completed":{"enum":["delete","keep",null]}}})";
constexpr const char* kUpdateBody =
    R"({"type":"object","properties":{"schedule":{"type":["string","null"]},)"
    R"("timezone":{"type":["string","null"]},"input":{"type":["object","null"]},)"
    R"("enabled":{"type":["boolean","null"]},"end_time":{},"metadata":{},"config":{},"context":{},)"
    R"("webhook":{},"interrupt_before":{},"interrupt_after":{},"on_run_completed":{},)"
    R"("multitask_strategy":{},"stream_mode":{},"stream_subgraphs":{},"stream_resumable":{},)"
    R"("durability":{}},"additionalProperties":false})";
constexpr const char* kSearchBody =
    R"({"type":"object","properties":{"assistant_id":{"type":["string","null"]},)"
    R"("thread_id":{"type":["string","null"]},"enabled":{"type":["boolean","null"]},)"
    R"("limit":{"type":["integer","null"],"minimum":1,"maximum":1000},)"
    R"("offset":{"type":["integer","null"],"minimum":0},"metadata":{"type":["object","null"]},)"
    R"("sort_by":{"enum":["cron_id","assistant_id","thread_id","created_at","updated_at",)"
    R"("next_run_date",null]},"sort_order":{"enum":["asc","desc",null]},)"
    R"("select":{"type":["array","null"],"items":{"type":"string"}}},)"
    R"("additionalProperties":false})";

}  // namespace

void add_cron_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, std::string summary,
                       Access access, Reply (*answer)(LangGraph&, const Request&)) -> Route& {
    routes.push_back(make_route(
        std::move(method), std::move(path), std::move(name), "crons", std::move(summary), access,
        [shared, answer](Service&, Request& request) { return answer(*shared, request); }));
    routes.back().agent = AgentOf::kHandler;
    return routes.back();
  };
  add("POST", "/runs/crons", "lgCreateCron", "Makes a trigger", Access::kWrite, create).body =
      BodySpec{kCreateBody};
  add("POST", "/runs/crons/search", "lgSearchCrons", "Triggers", Access::kRead, search).body =
      BodySpec{kSearchBody};
  add("POST", "/runs/crons/count", "lgCountCrons", "How many triggers", Access::kRead,
      [](LangGraph& graph, const Request& request) -> Reply {
        SKEIN_ASSIGN(const auto found, find_all(graph, request));
        return json_response(std::to_string(found.size()));
      })
      .body = BodySpec{kSearchBody};
  add("DELETE", "/runs/crons/{cron_id}", "lgDeleteCron", "Removes a trigger", Access::kWrite,
      remove);
  add("PATCH", "/runs/crons/{cron_id}", "lgUpdateCron", "Changes a trigger", Access::kWrite, update)
      .body = BodySpec{kUpdateBody};
  add("POST", "/threads/{thread_id}/runs/crons", "lgCreateThreadCron", "Refused", Access::kWrite,
      not_offered);
}

}  // namespace skein::http
