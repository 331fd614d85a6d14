#include "engine/conversation.h"

#include <algorithm>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quotation.h"
#include "core/quote.h"

namespace skein {
namespace {

using Messages = std::vector<EngineMessage>;

EngineMessage missing_result(const ToolCall& call) {
  return {.role = Role::kTool,
          .text = "(there is no result: the run ended before the tool did)",
          .tool_call_id = call.id,
          .is_error = true};
}

EngineMessage without_call(const EngineMessage& result) {
  return stray_tool_result({.tool = "", .call = result.tool_call_id, .text = result.text});
}

// Takes the results that follow the calls, and answers where they end.
Messages::const_iterator pair_up(const std::vector<ToolCall>& calls, Messages::const_iterator from,
                                 Messages::const_iterator end, Messages& out) {
  const auto after = std::find_if(
      from, end, [](const EngineMessage& message) { return message.role != Role::kTool; });
  std::vector<bool> used(static_cast<std::size_t>(after - from), false);
  for (const ToolCall& call : calls) {
    auto result = from;
    while (result != after &&
           (used[static_cast<std::size_t>(result - from)] || result->tool_call_id != call.id)) {
      ++result;
    }
    out.push_back(result == after ? missing_result(call) : *result);
    if (result != after) used[static_cast<std::size_t>(result - from)] = true;
  }
  for (auto result = from; result != after; ++result) {
    if (!used[static_cast<std::size_t>(result - from)]) out.push_back(without_call(*result));
  }
  return after;
}

}  // namespace

EngineMessage stray_tool_result(const StrayResult& result) {
  std::string text = "Result of ";
  text += result.tool.empty() ? "a tool" : "the tool " + quoted_name(result.tool);
  if (!result.call.empty()) text += ", call " + quoted_name(result.call);
  text += ", whose call is not part of this conversation. ";
  text += kQuotationWarning;
  return {.role = Role::kUser, .text = text + as_quotation(result.text)};
}

Messages well_formed(const Messages& messages) {
  Messages out;
  for (auto message = messages.begin(); message != messages.end();) {
    if (message->role == Role::kTool) {
      out.push_back(without_call(*message++));
      continue;
    }
    out.push_back(*message);
    const std::vector<ToolCall>& calls = message->calls;
    ++message;
    if (!calls.empty()) message = pair_up(calls, message, messages.end(), out);
  }
  return out;
}

void append_json_text(std::string& out, std::string_view text) {
  if (valid_utf8(text)) {
    append_json_string(out, text);
  } else {
    append_json_string(out, mended_utf8(text));
  }
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

std::string input_object(const ToolCall& call) {
  if (call.input.kind() == Json::Kind::kObject) return call.input.text();
  if (call.input.empty()) return "{}";
  return JsonObject().add_json("input", call.input.text()).str();
}

std::string_view input_schema(const ToolDefinition& tool) {
  return tool.input_schema.kind() == Json::Kind::kObject
             ? std::string_view(tool.input_schema.text())
             : R"({"type":"object"})";
}

void add_members(JsonObject& out, const Json& object, std::string_view except) {
  if (object.empty()) return;
  const JsonFields members(object.text());
  for (const JsonFields::Field& member : members.others()) {
    if (member.name != except) out.add_json(member.name, member.value);
  }
}

}  // namespace skein
