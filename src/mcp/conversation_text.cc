#include "mcp/conversation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/threads.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quotation.h"
#include "core/text.h"
#include "core/try.h"

namespace skein::mcp {
namespace {

std::string heading(const Manifest& manifest) {
  const std::string title = manifest.title ? as_quotation("title: " + *manifest.title) : "";
  return fmt::format("Conversation {}, agent {}, {}. {}{}", manifest.id.str(), manifest.agent_id,
                     to_string(manifest.status), kQuotationWarning, title);
}

// Cuts between characters; answers how many bytes went.
std::size_t cut_after(std::string& text, std::size_t max_bytes) {
  const std::size_t before = text.size();
  text.resize(beginning(text, max_bytes).size());
  return before - text.size();
}

std::string event_text(const Event& event) {
  if (const auto* message = std::get_if<Message>(&event.payload)) {
    return fmt::format("{}: {}", to_string(message->role), message->text);
  }
  if (const auto* text = std::get_if<AssistantText>(&event.payload)) {
    return "assistant: " + text->text;
  }
  if (const auto* use = std::get_if<ToolUse>(&event.payload)) {
    return fmt::format("tool call {} {}", use->name, use->input.text());
  }
  return type_name(event);
}

}  // namespace

Result<Manifest> find_conversation(Desk& desk, const Caller& caller, std::string_view id) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(id));
  SKEIN_ASSIGN(Manifest manifest, find_thread(desk.store(), ref));
  if (caller.sees(manifest.agent_id)) return manifest;
  return fail(ErrorCode::kNotFound, "there is no thread " + ref.str());
}

Result<ShownConversation> show_conversation(Desk& desk, const Manifest& manifest,
                                            const ConversationPart& part) {
  MessageSelection selection;
  selection.order = MessageOrder::kNewestFirst;
  selection.offset = part.offset;
  selection.limit = std::min(part.limit, limits::kMaxShownMessages) + 1;
  SKEIN_ASSIGN(std::vector<ThreadMessage> messages,
               desk.conversations().messages(manifest.id.str(), selection));
  ShownConversation shown;
  shown.manifest = manifest;
  std::size_t bytes = 0;
  for (ThreadMessage& message : messages) {
    const bool full =
        shown.messages.size() + 1 >= *selection.limit ||
        (!shown.messages.empty() && bytes + message.text.size() > limits::kMaxShownBytes);
    if (full) {
      shown.next_offset = part.offset + shown.messages.size();
      break;
    }
    shown.cut.push_back(cut_after(message.text, limits::kMaxShownBytes));
    bytes += message.text.size();
    shown.messages.push_back(std::move(message));
  }
  std::reverse(shown.messages.begin(), shown.messages.end());
  std::reverse(shown.cut.begin(), shown.cut.end());
  return shown;
}

std::string conversation_text(const ShownConversation& shown) {
  std::string text = heading(shown.manifest);
  if (shown.messages.empty()) text += "There are no messages here.\n";
  for (std::size_t i = 0; i < shown.messages.size(); ++i) {
    const ThreadMessage& message = shown.messages[i];
    text += fmt::format("\nMessage {}, {}, {}:\n{}", message.seq, to_string(message.role),
                        message.created_at.str(), as_quotation(message.text));
    if (shown.cut[i] > 0) text += fmt::format("({} more bytes are not shown)\n", shown.cut[i]);
  }
  if (shown.next_offset) {
    text += fmt::format("\nOlder messages: call again with offset {}.\n", *shown.next_offset);
  }
  return text;
}

std::string conversation_json(const ShownConversation& shown) {
  std::vector<std::string> messages;
  for (std::size_t i = 0; i < shown.messages.size(); ++i) {
    const ThreadMessage& message = shown.messages[i];
    JsonObject object;
    object.add("seq", message.seq).add("role", to_string(message.role)).add("text", message.text);
    object.add("timestamp", message.created_at.str());
    if (shown.cut[i] > 0) object.add("cut_bytes", std::uint64_t{shown.cut[i]});
    messages.push_back(object.str());
  }
  JsonObject object;
  object.add_json("conversation", to_json(shown.manifest));
  object.add_json("messages", json_array_of(messages));
  if (shown.next_offset) object.add("next_offset", *shown.next_offset);
  return object.str();
}

std::string context_text(const Manifest& manifest, const ContextWindow& window,
                         std::uint64_t max_tokens) {
  std::string text = heading(manifest);
  text += fmt::format("{} of {} tokens, strategy {}.\n", window.tokens, max_tokens,
                      to_string(window.strategy));
  for (const Event& event : window.messages) text += "\n" + as_quotation(event_text(event));
  std::uint64_t left_out = 0;
  for (const LedgerEntry& entry : window.ledger) {
    if (entry.what != Disposition::kIn && entry.seqs) {
      left_out += entry.seqs->last - entry.seqs->first + 1;
    }
  }
  if (left_out > 0) text += fmt::format("\n{} events are summarised or left out.\n", left_out);
  return text;
}

}  // namespace skein::mcp
