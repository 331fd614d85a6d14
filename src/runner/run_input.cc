#include "runner/run_input.h"

#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"

namespace skein {
namespace {

Event of_run(Event event, const std::string& run_id) {
  JsonObject metadata;
  metadata.add("runId", run_id);
  if (!event.metadata.empty()) {
    const JsonFields given(event.metadata.text());
    for (const JsonFields::Field& field : given.others()) {
      if (field.name != "runId") metadata.add_json(field.name, field.value);
    }
  }
  event.metadata = Json::trusted(metadata.str());
  return event;
}

std::string message_json(Role role, const std::string& text, const Json& metadata) {
  JsonObject object;
  object.add("role", to_string(role)).add("text", text);
  if (!metadata.empty()) object.add_json("metadata", metadata.text());
  return object.str();
}

}  // namespace

Event input_event(const NewMessage& message, const std::string& run_id) {
  Event event;
  event.payload = Message{message.role, message.text};
  event.memory_type = message.memory_type;
  event.key = message.key;
  event.metadata = message.metadata;
  return of_run(std::move(event), run_id);
}

std::vector<Event> input_events(const RunRequest::Input& input, const std::string& run_id) {
  std::vector<Event> events;
  for (const Event& event : input.events) events.push_back(of_run(event, run_id));
  for (const NewMessage& message : input.messages) events.push_back(input_event(message, run_id));
  return events;
}

Json input_json(const RunRequest::Input& input) {
  std::vector<std::string> objects;
  for (const Event& event : input.events) {
    const auto* message = std::get_if<Message>(&event.payload);
    objects.push_back(message == nullptr
                          ? JsonObject().add("type", type_name(event)).str()
                          : message_json(message->role, message->text, event.metadata));
  }
  for (const NewMessage& message : input.messages) {
    objects.push_back(message_json(message.role, message.text, message.metadata));
  }
  return Json::trusted(json_array_of(objects));
}

}  // namespace skein
