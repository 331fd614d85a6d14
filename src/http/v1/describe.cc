#include "http/v1/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/idempotency.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

constexpr const char* kIdempotencyKey = "Idempotency-Key";

}  // namespace

Parameter in_path(std::string name, const Shape& shape, std::string about) {
  return {.name = std::move(name),
          .in = ParameterIn::kPath,
          .description = std::move(about),
          .schema = shape,
          .required = true};
}

Parameter in_query(std::string name, const Shape& shape, std::string about) {
  return {.name = std::move(name),
          .in = ParameterIn::kQuery,
          .description = std::move(about),
          .schema = shape};
}

Parameter repeated(Parameter parameter) {
  parameter.repeated = true;
  return parameter;
}

Parameter required(Parameter parameter) {
  parameter.required = true;
  return parameter;
}

Parameter limit_parameter(std::size_t standard, std::size_t max) {
  return in_query("limit",
                  with_default(whole(1, static_cast<std::int64_t>(max)), std::to_string(standard)),
                  "At most so many.");
}

Parameter cursor_parameter() {
  return in_query("cursor", some_text(512), "`next` of the page before.");
}

Parameter agent_parameter() {
  return in_query("agentId", some_text(limits::kMaxAgentIdBytes),
                  "Only what belongs to this agent. Absent: all agents that the key sees.");
}

Parameter metadata_parameter() {
  return in_query("metadata", some_text(limits::kMaxMetadataBytes),
                  "A JSON object of scalars, such as {\"user_id\":\"u-1\"}: each must be in the "
                  "thread's metadata with that value.");
}

Parameter idempotency_parameter(std::string about) {
  return {.name = kIdempotencyKey,
          .in = ParameterIn::kHeader,
          .description = std::move(about),
          .schema = some_text(limits::kMaxKeyBytes)};
}

Parameter last_event_id_parameter() {
  return {.name = "Last-Event-ID",
          .in = ParameterIn::kHeader,
          .description = "The id of the last event that was seen: goes on right after it."};
}

BodySpec takes(Shape shape) { return {.schema = std::move(shape)}; }
BodySpec may_take(Shape shape) { return {.schema = std::move(shape), .required = false}; }

ResponseSpec gives(int status, std::string about, Shape shape) {
  return {.status = status, .description = std::move(about), .schema = std::move(shape)};
}

ResponseSpec gives_nothing(std::string about) {
  return {.status = 204, .description = std::move(about)};
}

ResponseSpec streams(std::string about) {
  return {.status = 200,
          .description = std::move(about),
          .schema = text(),
          .content_type = "text/event-stream"};
}

// --- Once ---

namespace {

Idempotency::Request idempotent_request(const Request& request, const std::string& name,
                                        std::string key) {
  std::string said = request.method + " " + request.path + "\n";
  for (const auto& [parameter, value] : request.queries) {
    if (parameter == "wait") continue;  // how it is answered, not what is done
    said += Json::string(parameter).text() + Json::string(value).text() + "\n";
  }
  return {.scope = request.caller.key_id + "\n" + name,
          .key = std::move(key),
          .said = said + request.body};
}

std::string stored_answer(const Response& response) {
  std::vector<std::string> headers;
  for (const HttpHeader& header : response.headers) {
    headers.push_back(JsonObject().add("name", header.name).add("value", header.value).str());
  }
  return JsonObject()
      .add("status", static_cast<std::uint64_t>(response.status))
      .add_json("headers", json_array_of(headers))
      .add("body", response.body ? *response.body : std::string())
      .str();
}

Response read_answer(const std::string& stored) {
  JsonFields fields(stored);
  Response response;
  response.status = static_cast<int>(fields.take_int("status").value_or(500));
  for (const RawJson header : json_elements(fields.take("headers", json_to_array).value_or("[]"))) {
    JsonFields one(header);
    response.header(one.take_string("name").value_or(""), one.take_string("value").value_or(""));
  }
  response.body = share(fields.take_string("body").value_or(""));
  response.header(kIdempotentReplayed, "true");
  return response;
}

// The answer is not there yet. Whoever goes away before it is leaves a request whose outcome nobody
// can tell.
Response keep_later(Service& service, const Idempotency::Request& asked, Response reply) {
  reply.waiting->poll =
      [&service, asked,
       poll = std::move(reply.waiting->poll)]() -> tl::expected<std::optional<Response>, Problem> {
    auto answer = poll();
    Idempotency idempotency(service.store(), service.clock());
    if (!answer && answer.error().status < 500) {
      SKEIN_TRY(idempotency.abandon(asked));
    } else if (answer && *answer) {
      SKEIN_TRY(idempotency.finish(asked, stored_answer(**answer)));
    }
    return answer;
  };
  return reply;
}

Reply answer_once(const Route& route, const Handler& handler, Service& service, Request& request) {
  const auto key = request.header(kIdempotencyKey);
  if (!key) return handler(service, request);
  Idempotency idempotency(service.store(), service.clock());
  const Idempotency::Request asked = idempotent_request(request, route.name, *key);
  SKEIN_ASSIGN(const std::optional<std::string> before, idempotency.begin(asked));
  if (before) return read_answer(*before);
  Reply reply = handler(service, request);
  if (reply && reply->waiting) return keep_later(service, asked, std::move(*reply));
  if (reply) {
    SKEIN_TRY(idempotency.finish(asked, stored_answer(*reply)));
  } else if (reply.error().status < 500) {
    SKEIN_TRY(idempotency.abandon(asked));
  }
  return reply;
}

}  // namespace

Route once(Route route) {
  route.parameters.push_back(idempotency_parameter(
      "Sent again with the same key within a day, the request is answered as the first time and "
      "does nothing; with another body it is 409."));
  const auto described = std::make_shared<const Route>(route);
  route.handler = [described](Service& service, Request& request) {
    return answer_once(*described, described->handler, service, request);
  };
  return route;
}

Route workspace_wide(Route route) {
  route.description += route.description.empty() ? "" : " ";
  route.description += "Belongs to the workspace: keys that are bound to agents are refused (403).";
  route.handler = [handler = std::move(route.handler)](Service& service,
                                                       Request& request) -> Reply {
    if (!request.caller.all_agents) {
      return refuse(403, "forbidden",
                    "this belongs to the workspace, and the key is bound to agents");
    }
    return handler(service, request);
  };
  return route;
}

namespace {

bool takes_header(const Route& route, std::string_view name) {
  return std::any_of(route.parameters.begin(), route.parameters.end(), [&](const Parameter& one) {
    return one.in == ParameterIn::kHeader && one.name == name;
  });
}

void add_problem(Route& route, int status, std::string about) {
  const auto same = [status](const ResponseSpec& one) { return one.status == status; };
  if (std::any_of(route.responses.begin(), route.responses.end(), same)) return;
  route.responses.push_back({.status = status,
                             .description = std::move(about),
                             .schema = named("Problem"),
                             .content_type = "application/problem+json"});
}

}  // namespace

Route finished(Route route) {
  const bool writes = route.method != "GET";
  add_problem(route, 400, "A rule was broken; the detail names it and the value.");
  add_problem(route, 401, "No key, or none that is known.");
  add_problem(route, 403, "The key does not give that right, or does not see that agent.");
  if (route.path.find('{') != std::string::npos || route.agent == AgentOf::kHandler) {
    add_problem(route, 404,
                "What was named does not exist, or belongs to an agent that the key "
                "does not see.");
  }
  if (writes) {
    add_problem(route, 409, "What is there is not what the request expects. Nothing happened.");
  }
  if (route.body) add_problem(route, 413, "The body is larger than the server takes.");
  add_problem(route, 429, "The key asked too often; Retry-After says when to come again.");
  add_problem(route, 503, "Storage failed, or the server has too much to do.");
  std::vector<std::string> refused;
  for (const char* header : {"If-Match", kIdempotencyKey}) {
    if (writes && !takes_header(route, header)) refused.emplace_back(header);
  }
  if (refused.empty()) return route;
  route.handler = [handler = std::move(route.handler), refused = std::move(refused)](
                      Service& service, Request& request) -> Reply {
    for (const std::string& header : refused) {
      if (!request.header(header)) continue;
      return refuse(400, "invalid", header + " is not for this route, and would be ignored");
    }
    return handler(service, request);
  };
  return route;
}

}  // namespace skein::http::v1
