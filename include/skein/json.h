// JSON that Skein keeps but does not interpret: metadata, tool input, unknown fields.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "skein/error.h"

namespace skein {

// One JSON value as text, kept as it came, so that nothing about it can change. Empty means absent.
class Json {
 public:
  enum class Kind { kAbsent, kNull, kBool, kNumber, kString, kArray, kObject };

  Json() = default;
  // Checks syntax, UTF-8, surrogates and depth (limits::kMaxJsonDepth). kInvalid says what and
  // where.
  static Result<Json> parse(std::string_view text);
  // The same, and it must be an object.
  static Result<Json> parse_object(std::string_view text);
  // The JSON string for `text`, which must be valid UTF-8.
  static Json string(std::string_view text);
  static Json number(long long value);
  // For text that is known to be one valid JSON value without white space around it.
  static Json trusted(std::string text) { return Json(std::move(text)); }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  Kind kind() const;

  // The same text. `same_json` compares what it means.
  friend bool operator==(const Json&, const Json&) = default;

 private:
  explicit Json(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// Equal in meaning: white space, escapes and the order of members do not count. Absent equals only
// absent.
bool same_json(const Json& a, const Json& b);

}  // namespace skein
