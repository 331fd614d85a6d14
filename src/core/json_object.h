// Writes one JSON object, member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace skein {

class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view text) {
    append_json_string(begin(name), text);
    return *this;
  }
  JsonObject& add(std::string_view name, const char* text) {
    return add(name, std::string_view(text));
  }
  JsonObject& add(std::string_view name, std::uint64_t number) {
    append_json_number(begin(name), number);
    return *this;
  }
  JsonObject& add(std::string_view name, bool value) {
    begin(name) += value ? "true" : "false";
    return *this;
  }
  JsonObject& add(std::string_view name, const std::vector<std::string>& texts) {
    std::string& out = begin(name);
    out += '[';
    for (const std::string& text : texts) {
      if (&text != &texts.front()) out += ',';
      append_json_string(out, text);
    }
    out += ']';
    return *this;
  }
  // `json` is one valid JSON value.
  JsonObject& add_json(std::string_view name, std::string_view json) {
    begin(name) += json;
    return *this;
  }
  std::string str() const { return text_ + '}'; }

 private:
  std::string& begin(std::string_view name) {
    if (text_.size() > 1) text_ += ',';
    append_json_string(text_, name);
    text_ += ':';
    return text_;
  }

  std::string text_ = "{";
};

}  // namespace skein
