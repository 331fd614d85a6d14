// Conversations as a model gets to see them: quoted, with their source, and not too much at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/exchange.h"
#include "mcp/limits.h"
#include "mcp/workspace.h"

namespace skein::mcp {

// kNotFound also for one of an agent that the caller does not see.
Result<Manifest> find_conversation(Desk& desk, const Caller& caller, std::string_view id);

struct ConversationPart {
  std::uint64_t offset = 0;  // so many of the newest messages are passed over
  std::size_t limit = 20;
};

struct ShownConversation {
  Manifest manifest;
  std::vector<ThreadMessage> messages;  // the oldest first
  std::vector<std::size_t> cut;         // bytes that are not shown of each
  std::optional<std::uint64_t> next_offset;
};

// Fewer messages than asked for, where they would exceed limits::kMaxShownBytes.
Result<ShownConversation> show_conversation(Desk& desk, const Manifest& manifest,
                                            const ConversationPart& part);

std::string conversation_text(const ShownConversation& shown);
// {"conversation", "messages", "next_offset"}
std::string conversation_json(const ShownConversation& shown);
std::string context_text(const Manifest& manifest, const ContextWindow& window,
                         std::uint64_t max_tokens);

}  // namespace skein::mcp
