#include "api/transfer/transcripts/event_maker.h"

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"

namespace skein {
namespace {

void add_paragraph(std::string& text, std::string_view more) {
  if (more.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += more;
}

// Nothing: it is not meant to be read.
std::string text_of_part(RawJson part, bool keep_unknown) {
  if (auto text = json_to_string(part)) return *text;
  JsonFields fields(part);
  const std::string type = fields.take_string("type").value_or("text");
  if (type.find("thinking") != std::string::npos || type.find("reasoning") != std::string::npos) {
    return "";
  }
  for (const char* name : {"text", "refusal"}) {
    if (auto text = fields.take_string(name)) return *text;
  }
  for (const char* kind : {"image", "audio", "document", "file", "video"}) {
    if (type.find(kind) != std::string::npos) return "[" + std::string(kind) + "]";
  }
  return keep_unknown ? std::string(part) : "";
}

std::string text_of(RawJson content, bool keep_unknown) {
  if (content.starts_with('"')) return json_to_string(content).value_or("");
  if (content.starts_with('{')) return text_of_part(content, keep_unknown);
  std::string text;
  for (const RawJson part : json_elements(content)) {
    add_paragraph(text, text_of_part(part, keep_unknown));
  }
  return text;
}

}  // namespace

std::string text_of_content(RawJson content) { return text_of(content, false); }

std::string text_of_tool_output(RawJson content) {
  if (content.empty() || content == "null") return "";
  if (std::string_view("\"{[").find(content.front()) == std::string_view::npos) {
    return std::string(content);
  }
  return text_of(content, true);
}

Json object_or_wrapped(std::string_view text, std::string_view name) {
  if (auto object = Json::parse_object(text)) return *object;
  return Json::trusted(JsonObject().add(name, mended_utf8(text)).str());
}

JsonObject EventMaker::provenance(bool by_model) {
  JsonObject metadata;
  metadata.add("source", source_);
  if (!by_model) return metadata;
  if (!model_.empty()) metadata.add("model", model_);
  if (!tokens_.empty()) metadata.add_json("tokens", tokens_);
  tokens_.clear();
  return metadata;
}

Event EventMaker::with(decltype(Event::payload) payload, const JsonObject& metadata) {
  Event event;
  event.payload = std::move(payload);
  event.metadata = Json::trusted(metadata.str());
  return event;
}

Event EventMaker::said(Role role, std::string text) {
  return with(Message{role, std::move(text)}, provenance(role == Role::kAssistant));
}

Event EventMaker::narrated(std::string text) {
  return with(AssistantText{std::move(text)}, provenance(true));
}

Event EventMaker::called(const std::string& call_id, std::string name, Json input) {
  JsonObject metadata = provenance(true);
  if (!call_id.empty()) {
    metadata.add("tool_call_id", call_id);
    tool_names_[call_id] = name;
  }
  return with(ToolUse{std::move(name), std::move(input)}, metadata);
}

Event EventMaker::answered(const std::string& call_id, std::string text, bool is_error) {
  JsonObject metadata = provenance(false);
  if (!call_id.empty()) metadata.add("tool_call_id", call_id);
  if (const auto name = tool_names_.find(call_id); name != tool_names_.end()) {
    metadata.add("tool_name", name->second);
  }
  if (is_error) metadata.add("is_error", true);
  Event event = with(Message{Role::kTool, std::move(text)}, metadata);
  event.memory_type = MemoryType::kToolResult;
  return event;
}

Event EventMaker::summary(std::string text) {
  Event event = with(Message{Role::kSystem, std::move(text)}, provenance(false));
  event.memory_type = MemoryType::kContextSummary;
  return event;
}

std::string tokens_json(std::optional<std::int64_t> input, std::optional<std::int64_t> output,
                        std::optional<std::int64_t> cache_read,
                        std::optional<std::int64_t> cache_write) {
  JsonObject tokens;
  const auto add = [&](const char* name, const std::optional<std::int64_t>& count) {
    if (count && *count >= 0) tokens.add(name, static_cast<std::uint64_t>(*count));
  };
  add("input", input);
  add("output", output);
  add("cacheRead", cache_read);
  add("cacheWrite", cache_write);
  std::string text = tokens.str();
  return text == "{}" ? "" : text;
}

}  // namespace skein
