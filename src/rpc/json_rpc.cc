#include "rpc/json_rpc.h"

#include <optional>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"

namespace skein {
namespace {

using Parsed = tl::expected<RpcMessage, RpcRefusal>;

// The members that matter; of several with one name the last counts.
struct Members {
  std::optional<RawJson> version;
  std::optional<RawJson> id;
  std::optional<RawJson> method;
  std::optional<RawJson> params;
  std::optional<RawJson> result;
  std::optional<RawJson> error;
};

Json kept(RawJson value) { return Json::trusted(std::string(value)); }

bool is_id(RawJson value) {
  const char first = value.front();
  return value.size() <= limits::kMaxRpcIdBytes &&
         (first == '"' || first == '-' || (first >= '0' && first <= '9'));
}

tl::unexpected<RpcRefusal> refuse(std::int64_t code, std::string message,
                                  const std::optional<RawJson>& id = std::nullopt) {
  RpcRefusal refusal;
  if (id && is_id(*id)) refusal.id = kept(*id);
  refusal.error = {code, std::move(message)};
  return tl::unexpected(std::move(refusal));
}

bool read_members(std::string_view object, JsonObjectReader& reader, Members& found) {
  std::vector<JsonMember> members;
  if (!reader.read(object, members)) return false;
  for (const JsonMember& member : members) {
    if (member.name == "jsonrpc") found.version = member.value;
    if (member.name == "id") found.id = member.value;
    if (member.name == "method") found.method = member.value;
    if (member.name == "params") found.params = member.value;
    if (member.name == "result") found.result = member.value;
    if (member.name == "error") found.error = member.value;
  }
  return true;
}

Parsed parse_call(const Members& members) {
  const auto method = json_to_string(*members.method);
  if (!method || method->empty()) {
    return refuse(kRpcInvalidRequest, "\"method\" must be a string that is not empty", members.id);
  }
  Json params;
  if (members.params) {
    const char first = members.params->front();
    if (first != '{' && first != '[') {
      return refuse(kRpcInvalidRequest, "\"params\" must be an object or an array", members.id);
    }
    params = kept(*members.params);
  }
  if (!members.id) return RpcNotification{*method, std::move(params)};
  if (!is_id(*members.id)) {
    return refuse(kRpcInvalidRequest, "\"id\" must be a string or a number of at most " +
                                          std::to_string(limits::kMaxRpcIdBytes) + " bytes, got " +
                                          excerpt(*members.id));
  }
  return RpcRequest{kept(*members.id), *method, std::move(params)};
}

std::optional<RpcError> parse_error(RawJson object) {
  if (!object.starts_with('{')) return std::nullopt;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!reader.read(object, members)) return std::nullopt;
  std::optional<std::int64_t> code;
  RpcError error;
  for (const JsonMember& member : members) {
    if (member.name == "code") code = json_to_int(member.value);
    if (member.name == "message") error.message = json_to_string(member.value).value_or("");
    if (member.name == "data") error.data = kept(member.value);
  }
  if (!code) return std::nullopt;
  error.code = *code;
  return error;
}

Parsed parse_response(const Members& members) {
  if (members.result && members.error) {
    return refuse(kRpcInvalidRequest, "a response has \"result\" or \"error\", not both",
                  members.id);
  }
  const bool no_id = !members.id || *members.id == "null";
  if (no_id ? members.result.has_value() : !is_id(*members.id)) {
    return refuse(kRpcInvalidRequest, "a response must have the \"id\" of its request");
  }
  Json id = no_id ? Json::trusted("null") : kept(*members.id);
  if (members.result) return RpcResponse{std::move(id), kept(*members.result)};
  auto error = parse_error(*members.error);
  if (!error) {
    return refuse(kRpcInvalidRequest, "\"error\" must be an object with an integer \"code\"",
                  members.id);
  }
  return RpcResponse{std::move(id), tl::unexpected(std::move(*error))};
}

// `text` is valid JSON.
Parsed parse_valid(std::string_view text) {
  JsonObjectReader reader;
  Members members;
  if (!text.starts_with('{') || !read_members(text, reader, members)) {
    return refuse(kRpcInvalidRequest, "a message must be an object, got " + excerpt(text));
  }
  if (!members.version || json_to_string(*members.version) != "2.0") {
    return refuse(kRpcInvalidRequest, "\"jsonrpc\" must be \"2.0\"", members.id);
  }
  if (members.method) return parse_call(members);
  if (members.result || members.error) return parse_response(members);
  return refuse(kRpcInvalidRequest, "a message must have \"method\", \"result\" or \"error\"",
                members.id);
}

Result<std::string_view> checked(std::string_view text) {
  text = trim_json(text);
  if (text.size() > limits::kMaxRpcBytes) {
    return fail(ErrorCode::kInvalid, "a message must have at most " +
                                         std::to_string(limits::kMaxRpcBytes) + " bytes, got " +
                                         std::to_string(text.size()));
  }
  if (auto valid = validate_json(text, "message", limits::kMaxRpcDepth); !valid) {
    return tl::unexpected(std::move(valid).error());
  }
  return text;
}

void add_on_one_line(JsonObject& object, std::string_view name, const Json& value) {
  if (value.empty()) return;
  std::string line;
  append_json_on_one_line(line, value.text());
  object.add_json(name, line);
}

JsonObject begin() {
  JsonObject object;
  object.add("jsonrpc", "2.0");
  return object;
}

}  // namespace

Parsed parse_rpc(std::string_view text) {
  const auto valid = checked(text);
  if (!valid) return refuse(kRpcParseError, valid.error().message);
  return parse_valid(*valid);
}

std::vector<Parsed> parse_rpc_batch(std::string_view text) {
  std::vector<Parsed> messages;
  const auto valid = checked(text);
  if (!valid) {
    messages.push_back(refuse(kRpcParseError, valid.error().message));
    return messages;
  }
  if (!valid->starts_with('[')) {
    messages.push_back(parse_valid(*valid));
    return messages;
  }
  const std::vector<RawJson> elements = json_elements(*valid);
  if (elements.empty() || elements.size() > limits::kMaxRpcBatch) {
    messages.push_back(refuse(kRpcInvalidRequest,
                              "an array must have 1 to " + std::to_string(limits::kMaxRpcBatch) +
                                  " messages, got " + std::to_string(elements.size())));
    return messages;
  }
  messages.reserve(elements.size());
  for (const RawJson element : elements) messages.push_back(parse_valid(element));
  return messages;
}

std::string rpc_line(const RpcRequest& request) {
  JsonObject object = begin();
  object.add_json("id", request.id.text()).add("method", request.method);
  add_on_one_line(object, "params", request.params);
  return object.str();
}

std::string rpc_line(const RpcNotification& notification) {
  JsonObject object = begin();
  object.add("method", notification.method);
  add_on_one_line(object, "params", notification.params);
  return object.str();
}

std::string rpc_line(const RpcResponse& response) {
  if (!response.outcome) return rpc_line(RpcRefusal{response.id, response.outcome.error()});
  JsonObject object = begin();
  object.add_json("id", response.id.text());
  add_on_one_line(object, "result", *response.outcome);
  return object.str();
}

std::string rpc_line(const RpcRefusal& refusal) {
  JsonObject error;
  std::string code;
  append_json_number(code, refusal.error.code);
  error.add_json("code", code).add("message", refusal.error.message);
  add_on_one_line(error, "data", refusal.error.data);
  return begin().add_json("id", refusal.id.text()).add_json("error", error.str()).str();
}

bool same_rpc_id(const Json& a, const Json& b) { return !a.empty() && same_json(a, b); }

}  // namespace skein
