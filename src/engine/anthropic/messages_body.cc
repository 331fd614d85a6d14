#include "engine/anthropic/messages_body.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/json_array.h"
#include "core/json_object.h"
#include "engine/conversation.h"

namespace skein {
namespace {

constexpr std::string_view kCacheMark = R"({"type":"ephemeral"})";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Ids go back as the API takes them, whoever gave them.
std::string call_id(std::string_view id) {
  std::string fitting(id);
  std::replace_if(
      fitting.begin(), fitting.end(),
      [](unsigned char c) {
        return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 c == '_' || c == '-');
      },
      '_');
  return fitting;
}

JsonObject text_block(std::string_view text) {
  return std::move(JsonObject().add("type", "text").add_json("text", json_text(text)));
}

JsonObject call_block(const ToolCall& call) {
  return std::move(JsonObject()
                       .add("type", "tool_use")
                       .add("id", call_id(call.id))
                       .add_json("name", json_text(call.name))
                       .add_json("input", input_object(call)));
}

JsonObject result_block(const EngineMessage& message) {
  JsonObject block;
  block.add("type", "tool_result").add("tool_use_id", call_id(message.tool_call_id));
  if (!is_blank(message.text)) block.add_json("content", json_text(message.text));
  if (message.is_error) block.add("is_error", true);
  return block;
}

// A turn of one side.
struct Turn {
  bool assistant = false;
  std::vector<JsonObject> blocks{};
};

class Conversation {
 public:
  void add(const EngineMessage& message) {
    switch (message.role) {
      case Role::kAssistant:
        add_text(true, message.text);
        for (const ToolCall& call : message.calls) add_block(true, call_block(call));
        break;
      case Role::kTool:
        add_block(false, result_block(message));
        break;
      case Role::kSystem:
        add_text(false, is_blank(message.text) ? "" : "(system) " + message.text);
        break;
      case Role::kUser:
        add_text(false, message.text);
        break;
    }
  }

  std::vector<Turn> turns() {
    if (turns_.empty() || turns_.front().assistant) {
      Turn first{.assistant = false};
      first.blocks.push_back(
          text_block(turns_.empty() ? "(go on)" : "(what came before is left out)"));
      turns_.insert(turns_.begin(), std::move(first));
    }
    return std::move(turns_);
  }

 private:
  void add_text(bool assistant, std::string_view text) {
    if (!is_blank(text)) add_block(assistant, text_block(text));
  }
  void add_block(bool assistant, JsonObject block) {
    if (turns_.empty() || turns_.back().assistant != assistant) {
      turns_.push_back({.assistant = assistant});
    }
    turns_.back().blocks.push_back(std::move(block));
  }

  std::vector<Turn> turns_;
};

std::string blocks_json(const std::vector<JsonObject>& blocks) {
  std::vector<std::string> texts;
  for (const JsonObject& block : blocks) texts.push_back(block.str());
  return json_array_of(texts);
}

std::string turns_json(const std::vector<Turn>& turns) {
  std::vector<std::string> texts;
  for (const Turn& turn : turns) {
    texts.push_back(JsonObject()
                        .add("role", turn.assistant ? "assistant" : "user")
                        .add_json("content", blocks_json(turn.blocks))
                        .str());
  }
  return json_array_of(texts);
}

std::string tools_json(const std::vector<ToolDefinition>& tools) {
  std::vector<std::string> texts;
  for (const ToolDefinition& tool : tools) {
    texts.push_back(JsonObject()
                        .add_json("name", json_text(tool.name))
                        .add_json("description", json_text(tool.description))
                        .add_json("input_schema", input_schema(tool))
                        .str());
  }
  return json_array_of(texts);
}

}  // namespace

std::string messages_body(const EngineRequest& request, const MessagesBodyOptions& options) {
  std::string system = request.system;
  const std::vector<EngineMessage> messages = well_formed(request.messages);
  const auto begin = std::find_if(messages.begin(), messages.end(), [](const auto& message) {
    return message.role != Role::kSystem;
  });
  for (auto message = messages.begin(); message != begin; ++message) {
    system += (system.empty() ? "" : "\n\n") + message->text;
  }
  Conversation conversation;
  std::for_each(begin, messages.end(), [&](const auto& message) { conversation.add(message); });
  std::vector<Turn> turns = conversation.turns();
  if (options.cache) turns.back().blocks.back().add_json("cache_control", kCacheMark);

  JsonObject body;
  body.add_json("model", json_text(request.model));
  body.add("max_tokens",
           static_cast<std::uint64_t>(request.max_output_tokens.value_or(options.max_tokens)));
  body.add("stream", true);
  if (!is_blank(system)) {
    JsonObject block = text_block(system);
    if (options.cache) block.add_json("cache_control", kCacheMark);
    body.add_json("system", json_array_of({block.str()}));
  }
  body.add_json("messages", turns_json(turns));
  if (!request.tools.empty()) body.add_json("tools", tools_json(request.tools));
  // A turn that goes on after tools cannot think anew: the API would want the thoughts back that
  // led to them.
  const bool goes_on = !messages.empty() && messages.back().role == Role::kTool;
  add_members(body, options.more, goes_on ? "thinking" : "");
  return body.str();
}

}  // namespace skein
