#include "http/v1/common.h"

#include <charconv>

#include "api/threads.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

std::optional<MemoryType> memory_type_of(std::string_view word) {
  for (const MemoryType type :
       {MemoryType::kConversationTurn, MemoryType::kToolResult, MemoryType::kIntermediateResult,
        MemoryType::kContextSummary, MemoryType::kDecisionPoint}) {
    if (word == to_string(type)) return type;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

JsonFields body_of(const Request& request) {
  return JsonFields(request.body.empty() ? std::string_view("{}") : trim_json(request.body));
}

std::optional<std::string> text_in(JsonFields& fields, std::string_view name) {
  return fields.take_string(name);
}

Json json_in(JsonFields& fields, std::string_view name) {
  const auto value = fields.take(name, any_json);
  return value ? Json::trusted(std::string(*value)) : Json();
}

std::optional<std::uint64_t> number_in(JsonFields& fields, std::string_view name) {
  const auto number = fields.take_int(name);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

Outcome<std::size_t> limit_of(const Request& request, std::size_t standard, std::size_t max) {
  SKEIN_ASSIGN(const auto limit, request.query_number("limit", 1, max));
  return limit ? static_cast<std::size_t>(*limit) : standard;
}

Outcome<std::vector<MetadataEquals>> metadata_of(const Request& request) {
  std::vector<MetadataEquals> filter;
  const auto typed = request.query("metadata");
  if (!typed) return filter;
  const auto object = Json::parse_object(*typed);
  if (!object) return refuse(400, "invalid", "metadata: " + object.error().message);
  const JsonFields fields(object->text());
  for (const JsonFields::Field& field : fields.others()) {
    filter.push_back({field.name, Json::trusted(std::string(field.value))});
  }
  // Whoever filters by nothing would get everything.
  if (filter.empty()) return refuse(400, "invalid", "metadata must name at least one key, got {}");
  return filter;
}

NewMessage message_in(RawJson json) {
  JsonFields fields(json);
  NewMessage message;
  if (const auto role = text_in(fields, "role")) {
    message.role = parse_role(*role).value_or(Role::kUser);
  }
  message.text = text_in(fields, "text").value_or("");
  message.metadata = json_in(fields, "metadata");
  message.key = text_in(fields, "key").value_or("");
  message.base = number_in(fields, "base");
  if (const auto type = text_in(fields, "memoryType")) message.memory_type = memory_type_of(*type);
  return message;
}

Error called(std::string_view name, std::string_view field, Error error) {
  const bool of_field = error.message.starts_with(std::string(field) + " must ");
  if (of_field) error.message.replace(0, field.size(), name);
  return error;
}

Outcome<Seq> parse_seq(std::string_view name, std::string_view typed, Seq min) {
  Seq seq = 0;
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), seq);
  const bool whole = error == std::errc() && end == typed.data() + typed.size();
  if (whole && seq >= min && std::to_string(seq) == typed) return seq;
  return refuse(400, "invalid",
                std::string(name) + " must be a position from " + std::to_string(min) +
                    " on, got " + quote(typed));
}

Outcome<Seq> seq_in_path(const Request& request, std::string_view name) {
  return parse_seq(name, request.parameter(name), 1);
}

Outcome<void> check_sees(const Request& request, std::string_view agent_id) {
  SKEIN_TRY(check_agent_id(agent_id));
  if (request.caller.sees(agent_id)) return {};
  return refuse(403, "forbidden", "the key does not see the agent " + quote(agent_id));
}

Outcome<AgentScope> scope_of(const Request& request) {
  if (const auto agent = request.query("agentId")) {
    if (auto seen = check_sees(request, *agent); !seen) return tl::unexpected(seen.error());
    return AgentScope{false, {*agent}};
  }
  return AgentScope{request.caller.all_agents, request.caller.agents};
}

Outcome<Manifest> seen_thread(Service& service, const Request& request, std::string_view ref) {
  SKEIN_ASSIGN(const ThreadRef named, ThreadRef::parse(ref));
  SKEIN_ASSIGN(auto manifest, service.store().get(named));
  if (manifest && request.caller.sees(manifest->agent_id)) return std::move(*manifest);
  return refuse(404, "not_found", "there is no thread " + named.str());
}

std::string etag_of(const Manifest& manifest) {
  return "\"" + std::to_string(manifest.version) + "\"";
}

std::string thread_json(const Manifest& manifest) {
  std::string json = to_json(manifest);
  JsonObject more;
  if (manifest.status == ThreadStatus::kActive) more.add("status", "active");
  more.add("lastSeq", manifest.last_seq).add("etag", etag_of(manifest));
  json.back() = ',';
  return json + more.str().substr(1);
}

Response thread_response(int status, const Manifest& manifest) {
  Response response = json_response(status, thread_json(manifest));
  response.header("ETag", etag_of(manifest));
  if (status == 201) response.header("Location", "/v1/threads/" + manifest.id.str());
  return response;
}

std::string page_json(std::string_view name, std::vector<std::string> items,
                      const std::string& next) {
  std::size_t bytes = name.size() + 2 * next.size() + 64;
  for (const std::string& item : items) bytes += item.size() + 1;
  std::string json = "{";
  json.reserve(bytes);
  append_json_string(json, name);
  json += ":[";
  for (std::string& item : items) {
    if (&item != &items.front()) json += ',';
    json += item;
    item = {};
  }
  json += ']';
  if (!next.empty()) {
    json += ",\"next\":";
    append_json_string(json, next);
  }
  return json += '}';
}

Outcome<std::optional<Version>> expected_version(const Request& request, const Manifest& manifest) {
  const auto header = request.header("If-Match");
  if (!header) return std::optional<Version>();
  std::string_view rest = *header;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view tag = trimmed(rest.substr(0, comma));
    if (tag == "*") return std::optional<Version>();
    if (tag == etag_of(manifest)) return std::optional(manifest.version);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return refuse(
      412, "precondition_failed",
      "If-Match is " + quote(*header) + ", and the thread's ETag is " + etag_of(manifest));
}

}  // namespace skein::http::v1
