#include "skein/event.h"

#include <cmath>
#include <type_traits>

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/codec.h"

namespace skein {
namespace {

struct NamedRole {
  Role role;
  const char* name;
};
constexpr NamedRole kRoles[] = {{Role::kUser, "user"},
                                {Role::kAssistant, "assistant"},
                                {Role::kSystem, "system"},
                                {Role::kTool, "tool"}};

struct NamedMemoryType {
  MemoryType type;
  const char* name;
};
constexpr NamedMemoryType kMemoryTypes[] = {
    {MemoryType::kConversationTurn, "conversation_turn"},
    {MemoryType::kToolResult, "tool_result"},
    {MemoryType::kIntermediateResult, "intermediate_result"},
    {MemoryType::kContextSummary, "context_summary"},
    {MemoryType::kDecisionPoint, "decision_point"}};

Result<void> check_size(std::string_view what, std::size_t size, std::size_t limit) {
  if (size <= limit) return {};
  return fail(ErrorCode::kInvalid, std::string(what) + " must be at most " + std::to_string(limit) +
                                       " bytes, got " + std::to_string(size));
}

Result<void> check_text(std::string_view what, std::string_view text, std::size_t limit) {
  SKEIN_TRY(check_size(what, text.size(), limit));
  if (valid_utf8(text)) return {};
  return fail(ErrorCode::kInvalid, std::string(what) + " must be valid UTF-8, got " + quote(text));
}

Result<void> check_object(std::string_view what, const Json& json, std::size_t limit) {
  if (json.empty()) return {};
  SKEIN_TRY(check_size(what, json.text().size(), limit));
  if (json.kind() == Json::Kind::kObject) return {};
  return fail(ErrorCode::kInvalid,
              std::string(what) + " must be a JSON object, got " + excerpt(json.text()));
}

Result<void> check_count(std::string_view what, const std::optional<std::int64_t>& value) {
  if (!value || *value >= 0) return {};
  return fail(ErrorCode::kInvalid,
              std::string(what) + " must not be negative, got " + std::to_string(*value));
}

Result<void> check_finite(std::string_view what, const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return {};
  return fail(ErrorCode::kInvalid, std::string(what) + " must be a finite number");
}

// No input is written as an empty object.
Json input_of(const ToolUse& use) { return use.input.empty() ? Json::trusted("{}") : use.input; }

struct PayloadCheck {
  Result<void> operator()(const Message& message) const {
    return check_text("text", message.text, limits::kMaxTextBytes);
  }
  Result<void> operator()(const ToolUse& use) const {
    if (use.name.empty()) return fail(ErrorCode::kInvalid, "name of a tool must not be empty");
    SKEIN_TRY(check_text("name of a tool", use.name, limits::kMaxToolNameBytes));
    return check_object("input", use.input, limits::kMaxEventBytes);
  }
  Result<void> operator()(const AssistantText& text) const {
    return check_text("text", text.text, limits::kMaxTextBytes);
  }
  Result<void> operator()(const RunResult& result) const {
    SKEIN_TRY(check_finite("cost", result.cost));
    SKEIN_TRY(check_finite("durationMs", result.duration_ms));
    SKEIN_TRY(check_count("turns", result.turns));
    SKEIN_TRY(check_count("inputTokens", result.input_tokens));
    SKEIN_TRY(check_count("outputTokens", result.output_tokens));
    return check_count("cacheReadTokens", result.cache_read_tokens);
  }
  Result<void> operator()(const Unreadable&) const {
    return fail(ErrorCode::kInvalid,
                "event type must be message, tool_use, assistant_text or result, got unreadable");
  }
};

// Escaping makes six bytes of one at most, so only what is large must be written to be measured.
Result<void> check_event_size(const Event& event) {
  constexpr std::size_t kRoomForTheRest = std::size_t{64} << 10;
  const std::size_t most = 6 * bytes_of(event) + event.metadata.text().size() + kRoomForTheRest;
  if (most <= limits::kMaxEventBytes) return {};
  return check_size("event", to_json(event).size(), limits::kMaxEventBytes);
}

tl::unexpected<Error> repeats_known_field(const Json& extra) {
  return fail(ErrorCode::kInvalid,
              "unknown fields must not repeat known ones, got " + excerpt(extra.text()));
}

// Unknown fields must not pass for known ones when the event is read again.
Result<void> check_extra(const Event& event) {
  if (event.extra.empty()) return {};
  SKEIN_TRY(check_object("unknown fields", event.extra, limits::kMaxEventBytes));
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(event.extra.text(), members);
  for (const JsonMember& member : members) {
    for (const std::string_view own : {kSeqField, kKeyField, kTokensField, kChecksumField}) {
      if (member.name != own) continue;
      return fail(ErrorCode::kInvalid,
                  "field " + quote(own) + " belongs to the store and cannot be set");
    }
    // The store may yet set the time, which the check below would not see.
    if (member.name == "timestamp") return repeats_known_field(event.extra);
  }
  std::string text;
  append_event_open(text, event);
  text += '}';
  Event again;
  SKEIN_TRY(EventReader().read(text, EventSource::kBody, again));
  again.key = event.key;
  if (same_event(event, again)) return {};
  return repeats_known_field(event.extra);
}

}  // namespace

std::size_t bytes_of(const Event& event) {
  const auto payload_bytes = [](const auto& payload) -> std::size_t {
    using Payload = std::decay_t<decltype(payload)>;
    if constexpr (std::is_same_v<Payload, ToolUse>) return payload.input.text().size();
    if constexpr (std::is_same_v<Payload, Message>) return payload.text.size();
    if constexpr (std::is_same_v<Payload, AssistantText>) return payload.text.size();
    if constexpr (std::is_same_v<Payload, Unreadable>) return payload.raw.size();
    return 0;
  };
  return std::visit(payload_bytes, event.payload) + event.extra.text().size();
}

const char* to_string(Role role) {
  for (const auto& entry : kRoles) {
    if (entry.role == role) return entry.name;
  }
  return "unknown";
}

Result<Role> parse_role(std::string_view text) {
  for (const auto& entry : kRoles) {
    if (text == entry.name) return entry.role;
  }
  return fail(ErrorCode::kInvalid,
              "role must be user, assistant, system or tool, got " + quote(text));
}

const char* to_string(MemoryType type) {
  for (const auto& entry : kMemoryTypes) {
    if (entry.type == type) return entry.name;
  }
  return "unknown";
}

std::optional<MemoryType> parse_memory_type(std::string_view text) {
  for (const auto& entry : kMemoryTypes) {
    if (text == entry.name) return entry.type;
  }
  return std::nullopt;
}

const char* type_name(const Event& event) {
  constexpr const char* kNames[] = {"message", "tool_use", "assistant_text", "result",
                                    "unreadable"};
  return kNames[event.payload.index()];
}

std::string to_json(const Event& event) {
  std::string out;
  append_event_open(out, event);
  if (event.seq != 0) {
    out += ",\"seq\":";
    append_json_number(out, event.seq);
  }
  if (!event.key.empty()) {
    out += ",\"key\":";
    append_json_string(out, event.key);
  }
  out += '}';
  return out;
}

Result<Event> parse_event(std::string_view json) {
  SKEIN_TRY(check_size("event", json.size(), limits::kMaxEventBytes));
  Event event;
  SKEIN_TRY(EventReader().read(json, EventSource::kCaller, event));
  SKEIN_TRY(validate(event));
  return event;
}

Result<void> validate(const Event& event) {
  SKEIN_TRY(std::visit(PayloadCheck{}, event.payload));
  SKEIN_TRY(check_object("metadata", event.metadata, limits::kMaxEventMetadataBytes));
  if (!event.timestamp.is_valid()) {
    return fail(ErrorCode::kInvalid, "timestamp must lie in the years 0000 to 9999, got " +
                                         std::to_string(event.timestamp.us) + " µs since 1970");
  }
  SKEIN_TRY(check_text("key", event.key, limits::kMaxKeyBytes));
  if (event.key.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalid, "key must not contain NUL, got " + quote(event.key));
  }
  SKEIN_TRY(check_extra(event));
  return check_event_size(event);
}

bool same_event(const Event& a, const Event& b) {
  if (a.payload.index() != b.payload.index() || a.base != b.base ||
      a.memory_type != b.memory_type || a.key != b.key) {
    return false;
  }
  const bool same_payload = std::visit(
      [&b](const auto& mine) {
        using Payload = std::decay_t<decltype(mine)>;
        const auto& other = std::get<Payload>(b.payload);
        if constexpr (std::is_same_v<Payload, Message>) {
          return mine.role == other.role && mine.text == other.text;
        } else if constexpr (std::is_same_v<Payload, ToolUse>) {
          return mine.name == other.name && same_json(input_of(mine), input_of(other));
        } else if constexpr (std::is_same_v<Payload, AssistantText>) {
          return mine.text == other.text;
        } else if constexpr (std::is_same_v<Payload, RunResult>) {
          return mine.cost == other.cost && mine.duration_ms == other.duration_ms &&
                 mine.turns == other.turns && mine.input_tokens == other.input_tokens &&
                 mine.output_tokens == other.output_tokens &&
                 mine.cache_read_tokens == other.cache_read_tokens;
        } else {
          return mine.raw == other.raw;
        }
      },
      a.payload);
  return same_payload && same_json(a.metadata, b.metadata) && same_json(a.extra, b.extra);
}

}  // namespace skein
