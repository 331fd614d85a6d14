#include <algorithm>
#include <array>
#include <utility>

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/codec.h"
#include "store/plain_message.h"

namespace skein {
namespace {

void append_member_name(std::string& out, std::string_view name) {
  out += ",\"";
  out += name;
  out += "\":";
}

void append_string_member(std::string& out, std::string_view name, std::string_view value) {
  append_member_name(out, name);
  append_json_string(out, value);
}

template <class Number>
void append_number_member(std::string& out, std::string_view name,
                          const std::optional<Number>& value) {
  if (!value) return;
  append_member_name(out, name);
  append_json_number(out, *value);
}

struct PayloadWriter {
  std::string& out;

  void operator()(const Message& message) const {
    out += "{\"type\":\"message\",\"role\":\"";
    out += to_string(message.role);
    out += '"';
    append_string_member(out, "text", message.text);
  }
  void operator()(const ToolUse& use) const {
    out += "{\"type\":\"tool_use\"";
    append_string_member(out, "name", use.name);
    append_member_name(out, "input");
    append_json_on_one_line(out, use.input.empty() ? std::string_view("{}") : use.input.text());
  }
  void operator()(const AssistantText& text) const {
    out += "{\"type\":\"assistant_text\"";
    append_string_member(out, "text", text.text);
  }
  void operator()(const RunResult& result) const {
    out += "{\"type\":\"result\"";
    append_number_member(out, "cost", result.cost);
    append_number_member(out, "durationMs", result.duration_ms);
    append_number_member(out, "turns", result.turns);
    append_number_member(out, "inputTokens", result.input_tokens);
    append_number_member(out, "outputTokens", result.output_tokens);
    append_number_member(out, "cacheReadTokens", result.cache_read_tokens);
  }
  void operator()(const Unreadable& unreadable) const {
    out += "{\"type\":\"unreadable\"";
    append_string_member(out, "reason", unreadable.reason);
  }
};

// The fields that an event may have, each with the raw value that was found.
enum Field : std::size_t {
  kType,
  kRole,
  kText,
  kTimestamp,
  kName,
  kInput,
  kCost,
  kDurationMs,
  kTurns,
  kInputTokens,
  kOutputTokens,
  kCacheReadTokens,
  kMetadata,
  kMemoryType,
  kBase,
  kSeq,
  kKey,
  kTokens,
  kCrc,
  kFieldCount
};
constexpr std::array<std::string_view, kFieldCount> kFieldNames = {
    "type",        "role",       "text",  "timestamp",   "name",         "input",
    "cost",        "durationMs", "turns", "inputTokens", "outputTokens", "cacheReadTokens",
    "metadata",    "memoryType", "base",  kSeqField,     kKeyField,      kTokensField,
    kChecksumField};

Field field_named(std::string_view name) {
  const auto at = std::find(kFieldNames.begin(), kFieldNames.end(), name);
  return static_cast<Field>(at - kFieldNames.begin());
}

bool is_store_field(Field field) { return field >= kSeq && field <= kCrc; }

// Whether a text of this origin may carry the field as ours.
bool is_known(Field field, EventSource source) {
  if (field == kFieldCount) return false;
  switch (source) {
    case EventSource::kBody:
      return !is_store_field(field);
    case EventSource::kLine:
      return true;
    case EventSource::kForeign:
      return field < kBase;
    case EventSource::kCaller:
      return field <= kKey;
  }
  return false;
}

// Moves raw values into an event. A value of the wrong type goes to the unknown fields, or, from a
// caller, is an error.
class EventBuilder {
 public:
  EventBuilder(const std::vector<JsonMember>& members, EventSource source, Event& event)
      : members_(members), source_(source), event_(event) {}

  Result<void> build() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Field field = field_named(members_[i].name);
      if (is_known(field, source_)) at_[field] = i + 1;
    }
    SKEIN_TRY(take_payload());
    take_timestamp();
    take_number(kBase, event_.base);
    take_string(kKey, event_.key);
    take_number(kTokens, event_.tokens);
    take_number(kSeq, event_.seq);
    take_object(kMetadata, event_.metadata);
    take_memory_type();
    if (source_ == EventSource::kLine) take(kCrc);
    if (source_ == EventSource::kCaller && wrong_ != kFieldCount) return wrong_type();
    collect_unknown();
    return {};
  }

 private:
  RawJson raw(Field field) const {
    return at_[field] == 0 ? RawJson() : members_[at_[field] - 1].value;
  }
  void take(Field field) {
    if (at_[field] != 0) taken_[field] = true;
  }
  // Notes the first known field whose value did not fit.
  void refuse(Field field) {
    if (at_[field] != 0 && wrong_ == kFieldCount) wrong_ = field;
  }

  bool take_string(Field field, std::string& out) {
    out.clear();
    const RawJson value = raw(field);
    if (value.empty() || value[0] != '"') return refuse(field), false;
    unescape_json_string(value, out);
    return take(field), true;
  }
  void take_object(Field field, Json& out) {
    const RawJson value = raw(field);
    if (value.empty() || value[0] != '{') {
      out = Json();
      return refuse(field);
    }
    out = Json::trusted(std::string(value));
    take(field);
  }
  template <class Number>
  void take_number(Field field, std::optional<Number>& out) {
    out.reset();
    if (at_[field] == 0) return;
    if constexpr (std::is_same_v<Number, double>) {
      out = json_to_double(raw(field));
    } else {
      const std::optional<std::int64_t> value = json_to_int(raw(field));
      if (value && std::in_range<Number>(*value)) out = static_cast<Number>(*value);
    }
    out ? take(field) : refuse(field);
  }
  void take_number(Field field, Seq& out) {
    std::optional<Seq> value;
    take_number(field, value);
    out = value.value_or(0);
  }

  Result<void> take_payload() {
    std::string type = "message";
    if (at_[kType] != 0 && !take_string(kType, type)) return missing(kType, "a string");
    if (type == "message") return take_message();
    if (type == "tool_use") return take_tool_use();
    if (type == "assistant_text") {
      auto& text = emplace<AssistantText>();
      return take_string(kText, text.text) ? Result<void>() : missing(kText, "a string");
    }
    if (type == "result") return take_result();
    return not_an_event("event type must be message, tool_use, assistant_text or result, got " +
                        quote(type));
  }
  Result<void> take_message() {
    std::string role_name;
    if (!take_string(kRole, role_name)) return missing(kRole, "a string");
    const Result<Role> role = parse_role(role_name);
    if (!role) return not_an_event(role.error().message);
    auto& message = emplace<Message>();
    message.role = *role;
    return take_string(kText, message.text) ? Result<void>() : missing(kText, "a string");
  }
  Result<void> take_tool_use() {
    auto& use = emplace<ToolUse>();
    if (!take_string(kName, use.name)) return missing(kName, "a string");
    if (at_[kInput] == 0) {
      use.input = Json::trusted("{}");
      return {};
    }
    take_object(kInput, use.input);
    return taken_[kInput] ? Result<void>() : missing(kInput, "an object");
  }
  Result<void> take_result() {
    auto& result = emplace<RunResult>();
    take_number(kCost, result.cost);
    take_number(kDurationMs, result.duration_ms);
    take_number(kTurns, result.turns);
    take_number(kInputTokens, result.input_tokens);
    take_number(kOutputTokens, result.output_tokens);
    take_number(kCacheReadTokens, result.cache_read_tokens);
    return {};
  }

  void take_timestamp() {
    event_.timestamp = {};
    const RawJson value = raw(kTimestamp);
    if (value.size() < 2 || value[0] != '"') return refuse(kTimestamp);
    const auto parsed = Timestamp::parse(value.substr(1, value.size() - 2));
    if (!parsed) return refuse(kTimestamp);
    event_.timestamp = *parsed;
    take(kTimestamp);
  }
  void take_memory_type() {
    event_.memory_type.reset();
    const RawJson value = raw(kMemoryType);
    const auto type =
        value.size() < 2 ? std::nullopt : parse_memory_type(value.substr(1, value.size() - 2));
    if (!type) return refuse(kMemoryType);
    event_.memory_type = type;
    take(kMemoryType);
  }

  void collect_unknown() {
    std::string extra;
    const auto taken = static_cast<std::size_t>(std::count(taken_.begin(), taken_.end(), true));
    if (taken == members_.size()) {
      event_.extra = Json();
      return;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Field field = field_named(members_[i].name);
      const bool overridden = at_[field] != 0 && at_[field] != i + 1;
      if (overridden || taken_[field]) continue;
      extra += extra.empty() ? '{' : ',';
      append_json_string(extra, members_[i].name);
      extra += ':';
      extra += members_[i].value;
    }
    if (!extra.empty()) extra += '}';
    event_.extra = Json::trusted(std::move(extra));
  }

  Result<void> missing(Field field, const char* what) {
    return not_an_event(std::string(kFieldNames[field]) + " must be " + what + ", got " +
                        (at_[field] == 0 ? "nothing" : excerpt(raw(field))));
  }
  Result<void> not_an_event(std::string reason) {
    if (source_ == EventSource::kCaller) return fail(ErrorCode::kInvalid, std::move(reason));
    event_.payload = Unreadable{std::move(reason), {}};
    return {};
  }
  tl::unexpected<Error> wrong_type() const {
    const char* rule = wrong_ == kTimestamp ? " must be an ISO 8601 timestamp with a time zone"
                       : wrong_ == kMemoryType
                           ? " must be one of conversation_turn, tool_result, "
                             "intermediate_result, context_summary, decision_point"
                       : wrong_ == kMetadata || wrong_ == kInput ? " must be an object"
                       : wrong_ == kKey                          ? " must be a string"
                                                                 : " must be a number in range";
    return fail(ErrorCode::kInvalid,
                std::string(kFieldNames[wrong_]) + rule + ", got " + excerpt(raw(wrong_)));
  }

  template <class Payload>
  Payload& emplace() {
    if (auto* payload = std::get_if<Payload>(&event_.payload)) return *payload;
    return event_.payload.emplace<Payload>();
  }

  const std::vector<JsonMember>& members_;
  const EventSource source_;
  Event& event_;
  std::array<std::size_t, kFieldCount + 1>
      at_{};  // index + 1 in members_; of repeated names the last
  std::array<bool, kFieldCount + 1> taken_{};
  Field wrong_ = kFieldCount;
};

}  // namespace

void append_event_open(std::string& out, const Event& event) {
  std::visit(PayloadWriter{out}, event.payload);
  if (event.timestamp.is_set()) append_string_member(out, "timestamp", event.timestamp.str());
  if (event.memory_type) append_string_member(out, "memoryType", to_string(*event.memory_type));
  if (!event.metadata.empty()) {
    append_member_name(out, "metadata");
    append_json_on_one_line(out, event.metadata.text());
  }
  append_number_member(out, "base", event.base);
  append_extra_members(out, event.extra);
}

void append_extra_members(std::string& out, const Json& extra) {
  if (extra.text().size() <= 2) return;
  out += ',';
  append_json_on_one_line(out, std::string_view(extra.text()).substr(1, extra.text().size() - 2));
}

Result<void> EventReader::read_padded(std::string_view text, EventSource source, Event& event) {
  const bool trusted = source == EventSource::kBody || source == EventSource::kLine;
  if (trusted && read_plain_message(text, source, event)) return {};
  if (!trusted) {
    if (auto valid = validate_json(text, "event", kMaxDocumentDepth); !valid) {
      if (source == EventSource::kCaller) return valid;
      event = Event{};
      event.payload = Unreadable{std::move(valid.error().message), std::string(text)};
      return {};
    }
  }
  if (!reader_.read_padded(text, members_)) {
    if (source == EventSource::kCaller) {
      return fail(ErrorCode::kInvalid, "event must be a JSON object, got " + quote(text));
    }
    event = Event{};
    event.payload = Unreadable{"event must be a JSON object", std::string(text)};
    return {};
  }
  SKEIN_TRY(EventBuilder(members_, source, event).build());
  if (auto* unreadable = std::get_if<Unreadable>(&event.payload)) unreadable->raw = text;
  return {};
}

Result<void> EventReader::read(std::string_view text, EventSource source, Event& event) {
  copy_.reserve(text.size() + JsonObjectReader::kPadding);
  copy_.assign(text);
  return read_padded(copy_, source, event);
}

}  // namespace skein
