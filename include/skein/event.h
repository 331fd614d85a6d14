// What a thread consists of: events, appended and never changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/ids.h"
#include "skein/json.h"

namespace skein {

enum class Role { kUser, kAssistant, kSystem, kTool };

enum class MemoryType {
  kConversationTurn,
  kToolResult,
  kIntermediateResult,
  kContextSummary,
  kDecisionPoint,
};

// "type": "message"
struct Message {
  Role role = Role::kUser;
  std::string text;
};

// "type": "tool_use"; `input` is an object.
struct ToolUse {
  std::string name;
  Json input;
};

// "type": "assistant_text": narration that accompanies tool use.
struct AssistantText {
  std::string text;
};

// "type": "result": what a run cost.
struct RunResult {
  std::optional<double> cost;
  std::optional<double> duration_ms;
  std::optional<std::int64_t> turns;
  std::optional<std::int64_t> input_tokens;
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> cache_read_tokens;
};

// Not an event type: what a reader gets for a position whose bytes are damaged, or are not an event
// that we know. It keeps its seq, cannot be appended, and takes nothing else of the thread with it.
struct Unreadable {
  std::string reason;
  std::string raw;  // the bytes as stored, where there are any
};

struct Event {
  Seq seq = 0;          // given by the store
  Timestamp timestamp;  // unset on append: the store's clock
  // The seq that this event continues from; absent: the one before it. 0: from nothing.
  std::optional<Seq> base;
  std::optional<MemoryType> memory_type;
  std::variant<Message, ToolUse, AssistantText, RunResult, Unreadable> payload;
  Json metadata;  // an object, or absent
  Json extra;     // an object with the fields that Skein does not know, as they came; or absent

  // Beside the event, not part of what it says:
  std::string key;                      // idempotency key, unique in its thread; empty: none
  std::optional<std::uint32_t> tokens;  // as counted by whoever appended it
};

const char* to_string(Role role);
const char* to_string(MemoryType type);
const char* type_name(const Event& event);  // "message", "tool_use", …; "unreadable"
Result<Role> parse_role(std::string_view text);

// One JSON object on one line, with "seq" and "base" where they are set.
std::string to_json(const Event& event);

// Reads what a caller hands in. A missing "type" means message. "base" and "key" are taken; "seq"
// is taken as a claim (importers compare it); unknown fields go to `extra`. kInvalid names rule and
// value.
Result<Event> parse_event(std::string_view json);

// The rules that every appended event meets: a known type and role, valid UTF-8, object-shaped
// metadata and input, the limits, and no unknown field whose name is the store's own.
Result<void> validate(const Event& event);

// Whether two events say the same: everything but seq, timestamp and tokens.
bool same_event(const Event& a, const Event& b);

}  // namespace skein
