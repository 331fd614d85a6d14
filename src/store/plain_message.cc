#include "store/plain_message.h"

#include <charconv>

namespace skein {
namespace {

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Cuts a JSON string off the front, quotes included; empty if there is none.
RawJson take_string(std::string_view& text) {
  if (!text.starts_with('"')) return {};
  for (std::size_t quote = text.find('"', 1); quote != std::string_view::npos;
       quote = text.find('"', quote + 1)) {
    const std::size_t before = text.find_last_not_of('\\', quote - 1);
    const bool escaped = (quote - 1 - before) % 2 == 1;
    if (escaped) continue;
    const RawJson token = text.substr(0, quote + 1);
    text.remove_prefix(token.size());
    return token;
  }
  return {};
}

// What may follow the timestamp, to the end.
bool take_end(std::string_view rest, EventSource source, Seq& seq) {
  seq = 0;
  if (source == EventSource::kBody) return rest == "}";
  if (source != EventSource::kLine || !take(rest, ",\"seq\":")) return false;
  const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), seq);
  rest.remove_prefix(static_cast<std::size_t>(number.ptr - rest.data()));
  return number.ec == std::errc() && take(rest, ",\"crc\":") && !take_string(rest).empty() &&
         rest == "}";
}

}  // namespace

bool read_plain_message(std::string_view text, EventSource source, Event& event) {
  if (!take(text, R"({"type":"message","role":)")) return false;
  const RawJson role_token = take_string(text);
  if (!take(text, R"(,"text":)")) return false;
  const RawJson text_token = take_string(text);
  if (text_token.empty() || !take(text, R"(,"timestamp":)")) return false;
  const RawJson time_token = take_string(text);
  if (role_token.size() < 2 || time_token.size() < 2 || !take_end(text, source, event.seq)) {
    return false;
  }
  const auto role = parse_role(role_token.substr(1, role_token.size() - 2));
  const auto time = Timestamp::parse(time_token.substr(1, time_token.size() - 2));
  if (!role || !time) return false;

  auto* message = std::get_if<Message>(&event.payload);
  if (message == nullptr) message = &event.payload.emplace<Message>();
  message->role = *role;
  unescape_json_string(text_token, message->text);
  event.timestamp = *time;
  event.base.reset();
  event.memory_type.reset();
  event.metadata = Json();
  event.extra = Json();
  event.key.clear();
  event.tokens.reset();
  return true;
}

}  // namespace skein
