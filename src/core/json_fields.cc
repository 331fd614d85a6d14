#include "core/json_fields.h"

#include <utility>

#include "core/json_array.h"

namespace skein {
namespace {

std::optional<RawJson> to_object(RawJson value) {
  return value.starts_with('{') ? std::optional(value) : std::nullopt;
}

std::optional<bool> to_bool(RawJson value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

std::optional<std::vector<std::string>> to_strings(RawJson value) {
  if (!value.starts_with('[')) return std::nullopt;
  std::vector<std::string> texts;
  for (const RawJson element : json_elements(value)) {
    auto text = json_to_string(element);
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::optional<Timestamp> to_time(RawJson value) {
  const auto text = json_to_string(value);
  if (!text) return std::nullopt;
  const auto time = Timestamp::parse(*text);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

JsonFields::JsonFields(std::string_view object) {
  std::vector<JsonMember> members;
  reader_.read(object, members);
  for (const JsonMember& member : members) {
    fields_.push_back({std::string(member.name), member.value});
  }
}

std::optional<std::string> JsonFields::take_string(std::string_view name) {
  return take(name, json_to_string);
}
std::optional<std::vector<std::string>> JsonFields::take_strings(std::string_view name) {
  return take(name, to_strings);
}
std::optional<bool> JsonFields::take_bool(std::string_view name) { return take(name, to_bool); }
std::optional<std::int64_t> JsonFields::take_int(std::string_view name) {
  return take(name, json_to_int);
}
std::optional<Timestamp> JsonFields::take_time(std::string_view name) {
  return take(name, to_time);
}
std::optional<RawJson> JsonFields::take_object(std::string_view name) {
  return take(name, to_object);
}

Json JsonFields::rest() const {
  if (fields_.empty()) return {};
  std::string out = "{";
  for (const Field& field : fields_) {
    if (out.size() > 1) out += ',';
    append_json_string(out, field.name);
    out += ':';
    out += field.value;
  }
  return Json::trusted(out + "}");
}

}  // namespace skein
