#include "api/transfer/transcripts/response_items.h"

#include <array>

#include "core/json_fields.h"

namespace skein {
namespace {

// What the program tells the model in the name of the user.
bool is_put_in(std::string_view text) {
  constexpr std::array<std::string_view, 10> kBeginnings = {"<environment_context>",
                                                            "<user_instructions>",
                                                            "# AGENTS.md instructions",
                                                            "<turn_aborted>",
                                                            "<skill>",
                                                            "<subagent_notification>",
                                                            "<permissions",
                                                            "<collaboration_mode>",
                                                            "<apps_instructions>",
                                                            "<context_window"};
  text = trim_json(text);
  for (const std::string_view beginning : kBeginnings) {
    if (text.starts_with(beginning)) return true;
  }
  return false;
}

ItemOutcome message(JsonFields& fields, EventMaker& make) {
  const std::string role = fields.take_string("role").value_or("");
  const bool is_narration = fields.take_string("phase") == "commentary";
  std::string text = text_of_content(fields.take<RawJson>("content", any_value).value_or("null"));
  if (text.empty()) return "empty message";
  if (role == "assistant") {
    return is_narration ? make.narrated(std::move(text))
                        : make.said(Role::kAssistant, std::move(text));
  }
  if (role != "user") return role + " message";
  if (is_put_in(text)) return "context message";
  return make.said(Role::kUser, std::move(text));
}

std::string call_id_of(JsonFields& fields) {
  if (auto id = fields.take_string("call_id")) return *id;
  return fields.take_string("id").value_or("");
}

ItemOutcome call(JsonFields& fields, const std::string& type, EventMaker& make) {
  std::string name = fields.take_string("name").value_or(type.substr(0, type.rfind("_call")));
  Json input = Json::trusted("{}");
  for (const char* field : {"arguments", "input", "action"}) {
    const auto value = fields.take<RawJson>(field, any_value);
    if (!value) continue;
    const auto text = json_to_string(*value);
    input = object_or_wrapped(text ? *text : std::string(*value), field);
    break;
  }
  return make.called(call_id_of(fields), std::move(name), std::move(input));
}

ItemOutcome output(JsonFields& fields, EventMaker& make) {
  const std::string id = call_id_of(fields);
  bool failed = false;
  RawJson value = "null";
  for (const char* field : {"output", "tools"}) {
    const auto found = fields.take<RawJson>(field, any_value);
    if (!found) continue;
    value = *found;
    break;
  }
  std::string text = text_of_tool_output(value);
  if (value.starts_with('{')) {
    JsonFields parts(value);
    failed = parts.take_bool("success") == false;
    if (auto content = parts.take<RawJson>("content", any_value))
      text = text_of_tool_output(*content);
  }
  return make.answered(id, std::move(text), failed);
}

}  // namespace

ItemOutcome event_of_response_item(RawJson item, EventMaker& make) {
  JsonFields fields(item);
  const std::string type = fields.take_string("type").value_or("message");
  if (type == "message") return message(fields, make);
  if (type == "agent_message") {
    std::string text = text_of_content(fields.take<RawJson>("content", any_value).value_or("null"));
    if (text.empty()) return "empty message";
    return make.said(Role::kUser, std::move(text));
  }
  if (type.ends_with("_call_output") || type == "tool_search_output") return output(fields, make);
  if (type.ends_with("_call")) return call(fields, type, make);
  return type;
}

bool is_by_model(RawJson item) {
  JsonFields fields(item);
  const std::string type = fields.take_string("type").value_or("message");
  if (type == "message") return fields.take_string("role") == "assistant";
  return type.ends_with("_call");
}

}  // namespace skein
