// Makes events of what was said in a transcript.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/json.h"
#include "core/json_object.h"
#include "skein/event.h"

namespace skein {

// For JsonFields::take: a value of whatever kind.
inline std::optional<RawJson> any_value(RawJson value) { return value; }

// The text of content: a string, or an array of parts. Images and files are named in brackets;
// thoughts and calls of tools are left out. Empty if there is none.
std::string text_of_content(RawJson content);

// The same for what a tool answered, where parts that are not known are kept as JSON.
std::string text_of_tool_output(RawJson content);

// An object: the JSON in the text if that is one, else {"<name>": text}.
Json object_or_wrapped(std::string_view text, std::string_view name);

// Puts what is known of where it came from into the metadata of each event. Not thread-safe.
class EventMaker {
 public:
  explicit EventMaker(std::string source) : source_(std::move(source)) {}

  void set_model(std::string model) { model_ = std::move(model); }
  // Of one answer of the model; the next event that the model made carries them.
  void set_tokens(std::string json) { tokens_ = std::move(json); }

  Event said(Role role, std::string text);
  Event narrated(std::string text);
  Event called(const std::string& call_id, std::string name, Json input);
  Event answered(const std::string& call_id, std::string text, bool is_error);
  Event summary(std::string text);

 private:
  JsonObject provenance(bool by_model);
  static Event with(decltype(Event::payload) payload, const JsonObject& metadata);

  const std::string source_;
  std::string model_;
  std::string tokens_;
  std::unordered_map<std::string, std::string> tool_names_;  // by call id
};

// {"input":…,"output":…,"cacheRead":…,"cacheWrite":…} of those that are known; empty for none.
std::string tokens_json(std::optional<std::int64_t> input, std::optional<std::int64_t> output,
                        std::optional<std::int64_t> cache_read,
                        std::optional<std::int64_t> cache_write);

}  // namespace skein
