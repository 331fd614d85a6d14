// Lines of event files, ours and other programs', and events that callers hand in.

#include <string>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "skein/event.h"
#include "store/codec.h"

namespace {

using namespace skein;

bool readable(const Event& event) { return !std::holds_alternative<Unreadable>(event.payload); }

Event read(std::string_view text, EventSource source) {
  EventReader reader;
  Event event;
  FUZZ_CHECK(reader.read(text, source, event));
  return event;
}

bool equal(const Event& a, const Event& b) {
  return same_event(a, b) && a.seq == b.seq && a.timestamp == b.timestamp && a.tokens == b.tokens &&
         a.base == b.base;
}

// What is written reads back as the same, byte for byte when written again.
void check_round_trip(const Event& event, EventSource source) {
  std::string body;
  append_event_open(body, event);
  body += '}';
  FUZZ_CHECK(validate_json(body, "body"));
  FUZZ_CHECK(body.find('\n') == std::string::npos ||
             event.metadata.text().find('\n') != std::string::npos ||
             event.extra.text().find('\n') != std::string::npos ||
             (std::holds_alternative<ToolUse>(event.payload) &&
              std::get<ToolUse>(event.payload).input.text().find('\n') != std::string::npos));
  Event again = read(body, source);
  FUZZ_CHECK(readable(again));
  again.seq = event.seq;
  again.key = event.key;
  again.tokens = event.tokens;
  FUZZ_CHECK(equal(event, again));
  std::string rewritten;
  append_event_open(rewritten, again);
  FUZZ_CHECK(rewritten + "}" == body);
}

void check_stored(std::string_view text, EventSource source) {
  const bool valid = validate_json(text, "line").has_value();
  if (!valid && source != EventSource::kForeign)
    return;  // our own lines have a checksum before this
  const Event event = read(text, source);
  if (!valid) FUZZ_CHECK(!readable(event));
  if (readable(event))
    check_round_trip(event, source == EventSource::kLine ? EventSource::kBody : source);
}

void check_handed_in(std::string_view text) {
  const auto event = parse_event(text);
  if (!event) {
    FUZZ_CHECK(event.error().code == ErrorCode::kInvalid);
    FUZZ_CHECK(!event.error().message.empty() && valid_utf8(event.error().message));
    return;
  }
  FUZZ_CHECK(readable(*event));
  if (!validate(*event)) return;
  check_round_trip(*event, EventSource::kBody);
  const std::string json = to_json(*event);
  const auto again = parse_event(json);
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(again->seq == event->seq && again->timestamp == event->timestamp);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::as_text(data, size);
  switch (fuzz::take_choice(text) % 4) {
    case 0:
      check_stored(text, EventSource::kBody);
      break;
    case 1:
      check_stored(text, EventSource::kLine);
      break;
    case 2:
      check_stored(text, EventSource::kForeign);
      break;
    default:
      check_handed_in(text);
  }
  return 0;
}
