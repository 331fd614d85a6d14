#include "api/langgraph/messages.h"

#include <algorithm>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::langgraph {
namespace {

// What a message says of itself that is said otherwise here, or says nothing.
bool is_told_otherwise(std::string_view name, RawJson value) {
  if (name == "type" || name == "role" || name == "content" || name == "tool_calls" ||
      name == "tool_call_id" || name == "tool_call_chunks" || name == "lc") {
    return true;
  }
  return value == "{}" || value == "[]" || value == "null";
}

// {"lc":1,"type":"constructor","id":[…,"HumanMessage"],"kwargs":{…}}
struct Constructed {
  std::string type;
  RawJson fields;
};

std::optional<Constructed> constructed(RawJson message) {
  JsonFields fields(message);
  if (fields.take_string("type") != "constructor") return std::nullopt;
  const auto path = fields.take_strings("id");
  const auto kwargs = fields.take_object("kwargs");
  if (!path || path->empty() || !kwargs) return std::nullopt;
  std::string name = path->back();
  for (const std::string_view ending : {"Chunk", "Message"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  // Inside the message's own text, which outlives these fields.
  const auto at = message.find(*kwargs);
  return Constructed{std::move(name), message.substr(at, kwargs->size())};
}

Result<std::optional<Role>> role_of(std::string_view type) {
  if (type == "human" || type == "user") return Role::kUser;
  if (type == "ai" || type == "assistant" || type == "AIMessageChunk") return Role::kAssistant;
  if (type == "system" || type == "developer") return Role::kSystem;
  if (type == "tool" || type == "function") return Role::kTool;
  if (type == "remove") return std::nullopt;
  return fail(ErrorCode::kInvalid,
              "a message's type must be human, ai, system, tool or remove, got " + quote(type));
}

// The text of contents: a string, or the blocks of type text.
std::string text_of(RawJson content) {
  if (auto text = json_to_string(content)) return std::move(*text);
  std::string whole;
  for (const RawJson block : json_elements(content)) {
    std::optional<std::string> text = json_to_string(block);
    if (!text && block.starts_with('{')) text = JsonFields(block).take_string("text");
    if (!text) continue;
    if (!whole.empty()) whole += '\n';
    whole += *text;
  }
  return whole;
}

Json metadata_of(const JsonObject& own, const JsonObject& kept) {
  std::string kept_text = kept.str();
  JsonObject metadata = own;
  if (kept_text != "{}") metadata.add_json("langgraph", kept_text);
  std::string text = metadata.str();
  return text == "{}" ? Json() : Json::trusted(std::move(text));
}

Result<std::vector<Event>> call_events(RawJson calls, std::string text, const JsonObject& kept) {
  std::vector<Event> events;
  if (!text.empty()) {
    Event narration;
    narration.payload = AssistantText{std::move(text)};
    narration.metadata = metadata_of({}, kept);
    events.push_back(std::move(narration));
  }
  for (const RawJson call : json_elements(calls)) {
    JsonFields fields(call);
    const auto name = fields.take_string("name");
    const auto input = fields.take_object("args");
    if (!name || !input) {
      return fail(ErrorCode::kInvalid,
                  "a tool call must have a name and an object args, got " + excerpt(call));
    }
    JsonObject own;
    if (const auto id = fields.take_string("id")) own.add("tool_call_id", *id);
    own.add("tool_name", *name);
    Event use;
    use.payload = ToolUse{*name, Json::trusted(std::string(*input))};
    use.metadata = metadata_of(own, events.empty() ? kept : JsonObject());
    events.push_back(std::move(use));
  }
  return events;
}

Result<SentMessage> parse_object(RawJson message) {
  std::string type;
  RawJson body = message;
  if (auto made = constructed(message)) {
    type = std::move(made->type);
    body = made->fields;
  }
  JsonFields fields(body);
  if (type.empty()) {
    auto named = fields.take_string("type");
    if (!named) named = fields.take_string("role");
    if (!named) {
      return fail(ErrorCode::kInvalid,
                  "a message must have a type or a role, got " + excerpt(body));
    }
    type = std::move(*named);
  }
  SKEIN_ASSIGN(const auto role, role_of(type));
  SentMessage sent;
  sent.id = JsonFields(body).take_string("id").value_or("");
  if (!role) {
    if (sent.id.empty()) return fail(ErrorCode::kInvalid, "a message that removes must have an id");
    sent.removes = true;
    return sent;
  }
  JsonObject kept;
  JsonObject own;
  std::string text;
  RawJson calls = "[]";
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name == "content") {
      text = text_of(field.value);
      if (field.value.starts_with('[')) kept.add_json("content", field.value);
    } else if (field.name == "tool_calls" && *role == Role::kAssistant) {
      calls = field.value;
    } else if (field.name == "tool_call_id") {
      own.add_json("tool_call_id", field.value);
    } else if (!is_told_otherwise(field.name, field.value)) {
      kept.add_json(field.name, field.value);
      if (field.name == "name" && *role == Role::kTool) own.add_json("tool_name", field.value);
      if (field.name == "status" && field.value == "\"error\"") own.add("is_error", true);
    }
  }
  if (!json_elements(calls).empty()) {
    SKEIN_ASSIGN(sent.events, call_events(calls, std::move(text), kept));
    return sent;
  }
  Event event;
  event.payload = Message{*role, std::move(text)};
  event.metadata = metadata_of(own, kept);
  sent.events.push_back(std::move(event));
  return sent;
}

Result<SentMessage> parse_message(RawJson message) {
  if (message.starts_with('{')) return parse_object(message);
  Message said;
  if (auto text = json_to_string(message)) {
    said.text = std::move(*text);
  } else {
    const std::vector<RawJson> pair = json_elements(message);
    const auto type = pair.size() == 2 ? json_to_string(pair[0]) : std::nullopt;
    if (!type) {
      return fail(ErrorCode::kInvalid,
                  "a message must be an object, a text, or a pair of role and text, got " +
                      excerpt(message));
    }
    SKEIN_ASSIGN(const auto role, role_of(*type));
    said.role = role.value_or(Role::kUser);
    said.text = text_of(pair[1]);
  }
  SentMessage sent;
  sent.events.emplace_back();
  sent.events.back().payload = std::move(said);
  return sent;
}

// A member of a message, in the order of writing; what was kept wins.
class MessageWriter {
 public:
  MessageWriter(RawJson kept, std::string_view type) : kept_(kept.empty() ? "{}" : kept) {
    object_.add("type", type);
  }

  void put(std::string_view name, std::string_view json) {
    if (!is_kept(name)) object_.add_json(name, json);
  }
  void put_text(std::string_view name, std::string_view text) {
    if (!is_kept(name)) object_.add(name, text);
  }

  std::string str() {
    for (const auto& field : kept_.others()) {
      if (field.name != "type") object_.add_json(field.name, field.value);
    }
    return object_.str();
  }

 private:
  bool is_kept(std::string_view name) const {
    return std::any_of(kept_.others().begin(), kept_.others().end(),
                       [name](const auto& field) { return field.name == name; });
  }

  const JsonFields kept_;
  JsonObject object_;
};

std::string plain_message_json(std::string_view type, std::string_view id, std::string_view text,
                               RawJson kept) {
  MessageWriter writer(kept, type);
  writer.put_text("content", text);
  writer.put("additional_kwargs", "{}");
  writer.put("response_metadata", "{}");
  writer.put_text("id", id);
  return writer.str();
}

std::string usage_json(RawJson tokens) {
  JsonFields fields(tokens);
  const auto count = [&](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, fields.take_int(name).value_or(0)));
  };
  const std::uint64_t input = count("input");
  const std::uint64_t output = count("output");
  return JsonObject()
      .add("input_tokens", input)
      .add("output_tokens", output)
      .add("total_tokens", input + output)
      .str();
}

}  // namespace

Result<std::vector<SentMessage>> parse_messages(RawJson messages) {
  std::vector<SentMessage> sent;
  if (messages == "null") return sent;
  if (!messages.starts_with('[')) {
    SKEIN_ASSIGN(auto one, parse_message(messages));
    sent.push_back(std::move(one));
    return sent;
  }
  for (const RawJson message : json_elements(messages)) {
    SKEIN_ASSIGN(auto one, parse_message(message));
    sent.push_back(std::move(one));
  }
  return sent;
}

std::string user_message_json(std::string_view id, std::string_view text, RawJson kept) {
  return plain_message_json("human", id, text, kept);
}

std::string system_message_json(std::string_view id, std::string_view text, RawJson kept) {
  return plain_message_json("system", id, text, kept);
}

std::string tool_message_json(std::string_view id, const Event& event, RawJson kept) {
  JsonFields metadata(event.metadata.empty() ? "{}" : event.metadata.text());
  MessageWriter writer(kept, "tool");
  writer.put_text("content", std::get<Message>(event.payload).text);
  writer.put("additional_kwargs", "{}");
  writer.put("response_metadata", "{}");
  writer.put_text("id", id);
  writer.put_text("tool_call_id", metadata.take_string("tool_call_id").value_or(""));
  if (const auto name = metadata.take_string("tool_name")) writer.put_text("name", *name);
  if (metadata.take_bool("is_error").value_or(false)) writer.put_text("status", "error");
  return writer.str();
}

std::string assistant_message_json(std::string_view id, const AssistantMessage& message,
                                   RawJson kept) {
  std::vector<std::string> calls;
  for (const ListedCall& call : message.calls) {
    calls.push_back(JsonObject()
                        .add("name", call.name)
                        .add_json("args", call.input.text())
                        .add("id", call.id)
                        .add("type", "tool_call")
                        .str());
  }
  MessageWriter writer(kept, "ai");
  writer.put_text("content", message.text);
  writer.put("tool_calls", json_array_of(calls));
  writer.put("invalid_tool_calls", "[]");
  writer.put("additional_kwargs", "{}");
  JsonObject about;
  if (!message.model.empty()) about.add("model_name", message.model);
  writer.put("response_metadata", about.str());
  if (!message.usage.empty()) writer.put("usage_metadata", usage_json(message.usage));
  writer.put_text("id", id);
  return writer.str();
}

std::string run_message_id(std::string_view run_id, std::size_t n) {
  return "run-" + std::string(run_id) + "-" + std::to_string(n);
}

}  // namespace skein::langgraph
