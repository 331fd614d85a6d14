#include "api/transfer/redact_events.h"

namespace skein {
namespace {

std::size_t redact_member(Json& json, const Redactor& redactor) {
  if (json.empty()) return 0;
  std::string text = json.text();
  const std::size_t count = redactor.redact_json(text);
  if (count > 0) json = Json::trusted(std::move(text));
  return count;
}

std::size_t redact_optional(std::optional<std::string>& text, const Redactor& redactor) {
  return text ? redactor.redact_text(*text) : 0;
}

}  // namespace

std::size_t redact(Event& event, const Redactor& redactor) {
  std::size_t count =
      redact_member(event.metadata, redactor) + redact_member(event.extra, redactor);
  if (auto* message = std::get_if<Message>(&event.payload)) {
    count += redactor.redact_text(message->text);
  }
  if (auto* said = std::get_if<AssistantText>(&event.payload)) {
    count += redactor.redact_text(said->text);
  }
  if (auto* use = std::get_if<ToolUse>(&event.payload))
    count += redact_member(use->input, redactor);
  return count;
}

std::size_t redact(Manifest& manifest, const Redactor& redactor) {
  return redact_optional(manifest.title, redactor) + redact_optional(manifest.summary, redactor) +
         redact_optional(manifest.resolution, redactor) +
         redact_member(manifest.metadata, redactor) + redact_member(manifest.extra, redactor);
}

}  // namespace skein
