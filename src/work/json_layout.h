// JSON laid out for people: two spaces a level, a blank line between groups.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_fields.h"
#include "skein/json.h"

namespace skein {

// An object with one member a line. Finished values go in; nested ones bring their own layout.
class LaidOutObject {
 public:
  // `indent`: how far in the line is that the object begins on. `extra`: an object, or absent, with
  // members that come last as they are, and instead of others of their names.
  explicit LaidOutObject(std::size_t indent, const Json& extra = {})
      : indent_(indent), extra_(extra.text()) {}

  void add(std::string_view name, std::string_view json);
  void add_text(std::string_view name, std::string_view text);
  void add_optional(std::string_view name, const std::optional<std::string>& text);
  // Before the next member, if there was one before.
  void blank_line() { blank_ = !text_.empty(); }
  std::string str();

 private:
  void append(std::string_view name, std::string_view json);

  const std::size_t indent_;
  const JsonFields extra_;
  std::string text_;
  bool blank_ = false;
};

// ["a", "b"]
std::string laid_out_inline(const std::vector<std::string>& texts);
// One a line; [] for none.
std::string laid_out_lines(const std::vector<std::string>& texts, std::size_t indent);

}  // namespace skein
