#include "engine/openai/chat_body.h"

#include <vector>

#include "core/json_array.h"
#include "core/json_object.h"
#include "engine/conversation.h"

namespace skein {
namespace {

std::string call_json(const ToolCall& call) {
  // What the model wrote goes back as it was, right or wrong.
  const std::string input = call.malformed.empty() ? input_object(call) : call.malformed;
  return JsonObject()
      .add_json("id", json_text(call.id))
      .add("type", "function")
      .add_json("function", JsonObject()
                                .add_json("name", json_text(call.name))
                                .add_json("arguments", json_text(input))
                                .str())
      .str();
}

std::string message_json(const EngineMessage& message) {
  JsonObject object;
  object.add("role", to_string(message.role));
  if (!message.calls.empty()) {
    std::vector<std::string> calls;
    for (const ToolCall& call : message.calls) calls.push_back(call_json(call));
    object.add_json("content", message.text.empty() ? "null" : json_text(message.text));
    object.add_json("tool_calls", json_array_of(calls));
    return object.str();
  }
  object.add_json("content", json_text(message.text));
  if (message.role == Role::kTool) object.add_json("tool_call_id", json_text(message.tool_call_id));
  return object.str();
}

std::string tool_json(const ToolDefinition& tool) {
  return JsonObject()
      .add("type", "function")
      .add_json("function", JsonObject()
                                .add_json("name", json_text(tool.name))
                                .add_json("description", json_text(tool.description))
                                .add_json("parameters", input_schema(tool))
                                .str())
      .str();
}

}  // namespace

std::string chat_body(const EngineRequest& request, const ChatBodyOptions& options) {
  std::vector<std::string> messages;
  if (!request.system.empty()) {
    messages.push_back(message_json({.role = Role::kSystem, .text = request.system}));
  }
  for (const EngineMessage& message : well_formed(request.messages)) {
    messages.push_back(message_json(message));
  }
  JsonObject body;
  body.add_json("model", json_text(request.model));
  body.add_json("messages", json_array_of(messages));
  body.add("stream", true);
  if (options.include_usage) {
    body.add_json("stream_options", JsonObject().add("include_usage", true).str());
  }
  if (!request.tools.empty()) {
    std::vector<std::string> tools;
    for (const ToolDefinition& tool : request.tools) tools.push_back(tool_json(tool));
    body.add_json("tools", json_array_of(tools));
  }
  if (request.max_output_tokens) {
    body.add(options.max_tokens_field, static_cast<std::uint64_t>(*request.max_output_tokens));
  }
  add_members(body, options.more);
  return body.str();
}

}  // namespace skein
