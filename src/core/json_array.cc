#include "core/json_array.h"

namespace skein {
namespace {

// Behind the string that begins at `at`.
std::size_t end_of_string(RawJson text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at;
}

}  // namespace

std::vector<RawJson> json_elements(RawJson array) {
  std::vector<RawJson> elements;
  array = trim_json(array);
  if (!array.starts_with('[')) return elements;
  std::size_t depth = 0;
  std::size_t begin = 1;
  const auto end_element = [&](std::size_t at) {
    const RawJson element = trim_json(array.substr(begin, at - begin));
    if (!element.empty()) elements.push_back(element);
    begin = at + 1;
  };
  for (std::size_t at = 0; at < array.size(); ++at) {
    switch (array[at]) {
      case '"':
        at = end_of_string(array, at);
        break;
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        if (--depth == 0) end_element(at);
        break;
      case ',':
        if (depth == 1) end_element(at);
        break;
      default:
        break;
    }
  }
  return elements;
}

std::optional<RawJson> json_to_array(RawJson value) {
  return value.starts_with('[') ? std::optional(value) : std::nullopt;
}

std::string json_array_of(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += value;
  }
  return out += ']';
}

}  // namespace skein
