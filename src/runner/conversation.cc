#include "runner/conversation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/json_fields.h"
#include "core/quotation.h"
#include "core/try.h"
#include "engine/conversation.h"
#include "skein/tokens.h"
#include "thread/event_kind.h"

namespace skein {
namespace {

constexpr const char* kNoResult = "(no result: the run ended before the tool answered)";

bool metadata_says(const Event& event, std::string_view name) {
  if (event.metadata.text().find(name) == std::string::npos) return false;
  return JsonFields(event.metadata.text()).take_bool(name).value_or(false);
}

// Results by the id of their call, each taken once, in order.
class Results {
 public:
  explicit Results(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (kind_of(event) != EventKind::kToolResponse) continue;
      if (std::string id = tool_call_id(event); !id.empty()) {
        by_call_[std::move(id)].push_back(&event);
      }
    }
  }

  EngineMessage take(const std::string& call, Seq after) {
    EngineMessage answer{.role = Role::kTool, .text = kNoResult};
    answer.is_error = true;
    auto& found = by_call_[call];
    const auto result = std::find_if(found.begin(), found.end(),
                                     [after](const Event* event) { return event->seq > after; });
    if (result == found.end()) return answer;
    answer.text = std::get<Message>((*result)->payload).text;
    answer.is_error = metadata_says(**result, "is_error");
    found.erase(result);
    return answer;
  }

  // Whether no call before it has taken the result: later ones cannot.
  bool is_left(const Event& event, const std::string& call) const {
    if (call.empty()) return true;
    const std::vector<const Event*>& left = by_call_.at(call);
    return std::find(left.begin(), left.end(), &event) != left.end();
  }

 private:
  std::map<std::string, std::vector<const Event*>> by_call_;
};

class Builder {
 public:
  explicit Builder(const std::vector<Event>& events) : results_(events) {}

  void add(const Event& event) {
    switch (kind_of(event)) {
      case EventKind::kNarration:
        begin_assistant();
        open_->text = std::get<AssistantText>(event.payload).text;
        return;
      case EventKind::kToolCall:
        if (!open_) begin_assistant();
        add_call(event);
        return;
      case EventKind::kToolResponse:
        close();
        add_stray_result(event);
        return;
      case EventKind::kRunResult:
      case EventKind::kUndo:
      case EventKind::kUnreadable:
        return;
      case EventKind::kSummary:
        close();
        messages_.push_back({.role = Role::kSystem,
                             .text = quoted_record("A summary of earlier messages.",
                                                   std::get<Message>(event.payload).text)});
        return;
      default:
        close();
        add_text(event);
    }
  }

  std::vector<EngineMessage> finish() {
    close();
    return std::move(messages_);
  }

 private:
  void begin_assistant() {
    close();
    open_ = EngineMessage{.role = Role::kAssistant, .text = ""};
  }

  void add_call(const Event& event) {
    const ToolUse& use = std::get<ToolUse>(event.payload);
    std::string id = tool_call_id(event);
    answers_.push_back(results_.take(id, event.seq));
    // Providers reject a second call with the same id.
    if (id.empty()) id = "call-" + std::to_string(event.seq);
    while (!used_.insert(id).second) id += "-" + std::to_string(event.seq);
    answers_.back().tool_call_id = id;
    open_->calls.push_back({.id = std::move(id), .name = use.name, .input = use.input});
  }

  // A result that has a call stands behind it. One without is shown as what it is.
  void add_stray_result(const Event& event) {
    const std::string call = tool_call_id(event);
    if (!results_.is_left(event, call)) return;
    const std::string& metadata = event.metadata.text();
    const std::string tool =
        JsonFields(metadata.empty() ? "{}" : metadata).take_string("tool_name").value_or("");
    messages_.push_back(stray_tool_result(
        {.tool = tool, .call = call, .text = std::get<Message>(event.payload).text}));
  }

  void add_text(const Event& event) {
    const auto& message = std::get<Message>(event.payload);
    messages_.push_back({.role = message.role, .text = message.text});
  }

  void close() {
    if (!open_) return;
    messages_.push_back(std::move(*open_));
    open_.reset();
    std::move(answers_.begin(), answers_.end(), std::back_inserter(messages_));
    answers_.clear();
  }

  Results results_;
  std::set<std::string> used_;  // ids of calls
  std::vector<EngineMessage> messages_;
  std::optional<EngineMessage> open_;   // of the assistant; calls may still follow
  std::vector<EngineMessage> answers_;  // to its calls
};

std::uint64_t tokens_of(const Event& event) {
  if (event.tokens) return *event.tokens + kMessageOverhead;
  struct Visitor {
    std::uint64_t operator()(const Message& message) const { return count_tokens(message.text); }
    std::uint64_t operator()(const ToolUse& use) const { return count_tokens(use.input.text()); }
    std::uint64_t operator()(const AssistantText& text) const { return count_tokens(text.text); }
    std::uint64_t operator()(const RunResult&) const { return 0; }
    std::uint64_t operator()(const Unreadable&) const { return 0; }
  };
  return std::visit(Visitor{}, event.payload) + kMessageOverhead;
}

Result<std::vector<Event>> newest_of_path(Store& store, ThreadId thread, Seq head,
                                          std::uint64_t max_tokens) {
  std::vector<Event> events;
  if (head == 0) return events;
  std::uint64_t tokens = 0;
  ReadRange range;
  range.direction = Direction::kBackward;
  range.view = View::kPath;
  range.head = head;
  SKEIN_TRY(store.read(thread, range, [&](Event& event) {
    tokens += tokens_of(event);
    if (tokens > max_tokens) return false;
    events.push_back(std::move(event));
    return true;
  }));
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace

std::vector<EngineMessage> engine_messages(const std::vector<Event>& events) {
  Builder builder(events);
  for (const Event& event : events) builder.add(event);
  return builder.finish();
}

Result<std::vector<EngineMessage>> conversation_of(Store& store, ThreadId thread,
                                                   const ContextRequest& request,
                                                   std::optional<Seq> head) {
  if (head) {
    SKEIN_ASSIGN(const auto events, newest_of_path(store, thread, *head, request.max_tokens));
    return engine_messages(events);
  }
  SKEIN_ASSIGN(const ContextWindow window, make_context(store, thread, request));
  return engine_messages(window.messages);
}

}  // namespace skein
