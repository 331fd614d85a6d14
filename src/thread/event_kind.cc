#include "thread/event_kind.h"

#include <boost/json.hpp>

#include "core/json.h"
#include "core/json_object.h"
#include "thread/seq_set.h"

namespace skein {
namespace {

std::string member_of(const Json& object, std::string_view name) {
  if (object.text().find(name) == std::string::npos) return {};  // the usual case, and quick
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!reader.read(object.text(), members)) return {};
  for (const JsonMember& member : members) {
    if (member.name == name) return std::string(member.value);
  }
  return {};
}

std::optional<Seq> seq_in(const boost::json::value& value) {
  if (value.is_int64() && value.get_int64() > 0) return static_cast<Seq>(value.get_int64());
  return std::nullopt;
}

bool is_summary_message(const Event& event) {
  const Message* message = std::get_if<Message>(&event.payload);
  return message != nullptr && message->role == Role::kSystem &&
         event.memory_type == MemoryType::kContextSummary;
}

}  // namespace

std::optional<std::vector<SeqRange>> covers_of(const Event& event) {
  if (!is_summary_message(event)) return std::nullopt;
  boost::system::error_code error;
  const boost::json::value covers = boost::json::parse(member_of(event.metadata, "covers"), error);
  if (error || !covers.is_array() || covers.get_array().empty()) return std::nullopt;
  std::vector<SeqRange> ranges;
  for (const boost::json::value& entry : covers.get_array()) {
    if (!entry.is_array() || entry.get_array().size() != 2) return std::nullopt;
    const auto first = seq_in(entry.get_array()[0]);
    const auto last = seq_in(entry.get_array()[1]);
    if (!first || !last || *first > *last || *last >= event.seq) return std::nullopt;
    ranges.push_back({*first, *last});
  }
  return SeqSet(std::move(ranges)).ranges();
}

Json covers_metadata(const std::vector<SeqRange>& covers, std::string_view model) {
  std::string text = "{\"covers\":[";
  for (const SeqRange& range : covers) {
    if (text.back() != '[') text += ',';
    text += '[' + std::to_string(range.first) + ',' + std::to_string(range.last) + ']';
  }
  text += ']';
  if (!model.empty()) {
    text += ',' + JsonObject().add("source", "engine").add("model", model).str().substr(1);
    return Json::trusted(std::move(text));
  }
  return Json::trusted(text + "}");
}

std::optional<Seq> undoes_of(const Event& event) {
  if (!is_summary_message(event)) return std::nullopt;
  const auto seq = json_to_int(member_of(event.metadata, "undoes"));
  return seq && *seq > 0 ? std::optional(static_cast<Seq>(*seq)) : std::nullopt;
}

Json undoes_metadata(Seq summary) {
  return Json::trusted("{\"undoes\":" + std::to_string(summary) + "}");
}

std::string tool_call_id(const Event& event) {
  return json_to_string(member_of(event.metadata, "tool_call_id")).value_or("");
}

EventKind kind_of(const Event& event) {
  struct Visitor {
    const Event& event;
    EventKind operator()(const Message& message) const {
      switch (message.role) {
        case Role::kUser:
          return EventKind::kUser;
        case Role::kAssistant:
          return EventKind::kAssistant;
        case Role::kTool:
          return EventKind::kToolResponse;
        case Role::kSystem:
          break;
      }
      if (covers_of(event)) return EventKind::kSummary;
      return undoes_of(event) ? EventKind::kUndo : EventKind::kSystem;
    }
    EventKind operator()(const ToolUse&) const { return EventKind::kToolCall; }
    EventKind operator()(const AssistantText&) const { return EventKind::kNarration; }
    EventKind operator()(const RunResult&) const { return EventKind::kRunResult; }
    EventKind operator()(const Unreadable&) const { return EventKind::kUnreadable; }
  };
  return std::visit(Visitor{event}, event.payload);
}

bool is_for_model(EventKind kind) {
  return kind != EventKind::kRunResult && kind != EventKind::kUndo &&
         kind != EventKind::kUnreadable;
}

}  // namespace skein
