#include "core/json_edit.h"

#include <algorithm>
#include <span>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

using Names = std::span<const std::string>;

constexpr std::size_t kLineBytes = 80;

bool is_object(RawJson value) { return trim_json(value).starts_with('{'); }

std::optional<std::string> value_at(RawJson object, Names path) {
  std::optional<std::string> found;
  const JsonFields fields(object);
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name == path.front()) found = std::string(field.value);
  }
  if (!found || path.size() == 1) return found;
  return value_at(*found, path.subspan(1));
}

Result<std::string> with_value(RawJson object, Names path, RawJson value) {
  if (!is_object(object)) {
    return fail(ErrorCode::kInvalid, "is inside " + excerpt(object) + ", which is not an object");
  }
  const bool last = path.size() == 1;
  const std::string inner = last ? "{}" : value_at(object, path.first(1)).value_or("{}");
  std::string made(value);
  if (!last) {
    SKEIN_ASSIGN(made, with_value(inner, path.subspan(1), value));
  }
  JsonObject edited;
  bool written = false;
  const JsonFields fields(object);
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name != path.front()) {
      edited.add_json(field.name, field.value);
    } else if (!std::exchange(written, true)) {
      edited.add_json(field.name, made);
    }
  }
  if (!written) edited.add_json(path.front(), made);
  return edited.str();
}

std::string without_value(RawJson object, Names path) {
  if (!is_object(object)) return std::string(object);
  JsonObject edited;
  const JsonFields fields(object);
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name != path.front()) {
      edited.add_json(field.name, field.value);
    } else if (path.size() > 1) {
      edited.add_json(field.name, without_value(field.value, path.subspan(1)));
    }
  }
  return edited.str();
}

void indent_lines(std::string& out, std::size_t depth) {
  out += "\n" + std::string(2 * depth, ' ');
}

bool fits_a_line(const std::vector<RawJson>& elements) {
  std::size_t bytes = 0;
  for (const RawJson element : elements) {
    if (element.starts_with('{') || element.starts_with('[')) return false;
    bytes += element.size() + 2;
  }
  return bytes <= kLineBytes;
}

void append_indented(std::string& out, RawJson value, std::size_t depth);

void append_array(std::string& out, RawJson value, std::size_t depth) {
  const std::vector<RawJson> elements = json_elements(value);
  const bool one_line = fits_a_line(elements);
  out += '[';
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += one_line ? ", " : ",";
    if (!one_line) indent_lines(out, depth + 1);
    append_indented(out, elements[i], depth + 1);
  }
  if (!one_line) indent_lines(out, depth);
  out += ']';
}

void append_indented(std::string& out, RawJson value, std::size_t depth) {
  if (value.starts_with('[')) return append_array(out, value, depth);
  if (!value.starts_with('{')) {
    out += value;
    return;
  }
  const JsonFields fields(value);
  out += '{';
  for (const JsonFields::Field& field : fields.others()) {
    if (&field != &fields.others().front()) out += ',';
    indent_lines(out, depth + 1);
    append_json_string(out, field.name);
    out += ": ";
    append_indented(out, field.value, depth + 1);
  }
  if (!fields.others().empty()) indent_lines(out, depth);
  out += '}';
}

}  // namespace

Result<JsonPath> parse_json_path(std::string_view text) {
  JsonPath path(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      path.emplace_back();
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      path.back() += text[i];
    }
  }
  if (std::none_of(path.begin(), path.end(),
                   [](const std::string& name) { return name.empty(); })) {
    return path;
  }
  return fail(
      ErrorCode::kInvalid,
      "a path must be names with dots between them, such as limits.turns, not " + quote(text));
}

std::optional<std::string> json_at(RawJson object, const JsonPath& path) {
  return value_at(object, path);
}

Result<std::string> json_with(RawJson object, const JsonPath& path, RawJson value) {
  return with_value(object, path, value);
}

std::string json_without(RawJson object, const JsonPath& path) {
  return without_value(object, path);
}

Json json_of_typed(std::string_view text) {
  if (auto parsed = Json::parse(text)) return Json::trusted(std::string(trim_json(text)));
  return Json::string(mended_utf8(text));
}

std::string indented_json(RawJson value) {
  std::string out;
  append_indented(out, trim_json(value), 0);
  return out;
}

}  // namespace skein
