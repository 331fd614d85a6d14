#include "work/json_layout.h"

#include <algorithm>

#include "core/json.h"

namespace skein {

void LaidOutObject::add(std::string_view name, std::string_view json) {
  const auto& extra = extra_.others();
  const bool replaced = std::any_of(extra.begin(), extra.end(),
                                    [name](const auto& field) { return field.name == name; });
  if (!replaced) append(name, json);
}

void LaidOutObject::append(std::string_view name, std::string_view json) {
  if (!text_.empty()) text_ += blank_ ? ",\n\n" : ",\n";
  blank_ = false;
  text_.append(indent_ + 2, ' ');
  append_json_string(text_, name);
  text_ += ": ";
  text_ += json;
}

void LaidOutObject::add_text(std::string_view name, std::string_view text) {
  std::string json;
  append_json_string(json, text);
  add(name, json);
}

void LaidOutObject::add_optional(std::string_view name, const std::optional<std::string>& text) {
  if (text) add_text(name, *text);
}

std::string LaidOutObject::str() {
  for (const JsonFields::Field& field : extra_.others()) append(field.name, field.value);
  if (text_.empty()) return "{}";
  return "{\n" + text_ + "\n" + std::string(indent_, ' ') + "}";
}

std::string laid_out_inline(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    append_json_string(out, text);
  }
  return out + "]";
}

std::string laid_out_lines(const std::vector<std::string>& texts, std::size_t indent) {
  if (texts.empty()) return "[]";
  std::string out = "[";
  for (const std::string& text : texts) {
    out += out.size() > 1 ? ",\n" : "\n";
    out.append(indent + 2, ' ');
    append_json_string(out, text);
  }
  return out + "\n" + std::string(indent, ' ') + "]";
}

}  // namespace skein
