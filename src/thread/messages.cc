#include "thread/messages.h"

#include <algorithm>
#include <charconv>

#include "core/json_object.h"
#include "core/quote.h"

namespace skein {

ThreadMessage to_thread_message(ThreadId thread, Event event) {
  auto& payload = std::get<Message>(event.payload);
  return {.id = message_id(thread, event.seq),
          .thread = thread,
          .seq = event.seq,
          .role = payload.role,
          .text = std::move(payload.text),
          .metadata = std::move(event.metadata),
          .memory_type = event.memory_type,
          .created_at = event.timestamp};
}

ManifestPatch pins_patch(std::vector<Seq> pins) {
  std::sort(pins.begin(), pins.end());
  pins.erase(std::unique(pins.begin(), pins.end()), pins.end());
  if (pins.empty()) return ManifestPatch().clear("pins");
  std::string array = "[";
  for (const Seq pin : pins) {
    if (array.size() > 1) array += ',';
    append_json_number(array, pin);
  }
  return ManifestPatch().set("pins", Json::trusted(array + "]"));
}

std::string message_id(ThreadId thread, Seq seq) {
  return thread.str() + "-" + std::to_string(seq);
}

Result<std::pair<ThreadId, Seq>> parse_message_id(std::string_view text) {
  const auto invalid = [text] {
    return fail(ErrorCode::kInvalid,
                "message id must be a thread's id, a dash and a position, got " + quote(text));
  };
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return invalid();
  const auto thread = ThreadId::parse(text.substr(0, dash));
  const std::string_view digits = text.substr(dash + 1);
  Seq seq = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seq);
  const bool canonical = error == std::errc() && end == digits.data() + digits.size() &&
                         std::to_string(seq) == digits && seq > 0;
  if (!thread || !canonical) return invalid();
  return std::pair(*thread, seq);
}

std::string to_json(const ThreadMessage& message) {
  JsonObject object;
  object.add("id", message.id)
      .add("threadId", message.thread.str())
      .add("seq", message.seq)
      .add("role", to_string(message.role))
      .add("text", message.text)
      .add("timestamp", message.created_at.str());
  if (message.memory_type) object.add("memoryType", to_string(*message.memory_type));
  if (!message.metadata.empty()) {
    std::string metadata;
    append_json_on_one_line(metadata, message.metadata.text());
    object.add_json("metadata", metadata);
  }
  return object.str();
}

}  // namespace skein
