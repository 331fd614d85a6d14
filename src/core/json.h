// Reading and writing JSON text at the edges.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"
#include "skein/json.h"
#include "skein/limits.h"

namespace skein {

bool valid_utf8(std::string_view text);

// An event or a manifest, each of whose members may be nested as deep as a value that stands alone.
inline constexpr std::size_t kMaxDocumentDepth = limits::kMaxJsonDepth + 1;

// Syntax, UTF-8, surrogates, depth. `what` begins the message of the error.
Result<void> validate_json(std::string_view text, std::string_view what,
                           std::size_t max_depth = limits::kMaxJsonDepth);

// Appends the JSON string for `text`, quotes included.
void append_json_string(std::string& out, std::string_view text);
// Appends valid JSON as it is but on one line: a line end is white space there, and becomes a
// space.
void append_json_on_one_line(std::string& out, std::string_view json);
void append_json_number(std::string& out, std::uint64_t value);
void append_json_number(std::string& out, std::int64_t value);
// Shortest text that reads back as the same value.
void append_json_number(std::string& out, double value);

// Without the white space of JSON around it.
std::string_view trim_json(std::string_view text);

// A value inside valid JSON text, without white space around it.
using RawJson = std::string_view;

// Of a string token, its contents.
std::string unescape_json_string(RawJson token);
void unescape_json_string(RawJson token, std::string& out);

std::optional<std::string> json_to_string(RawJson value);  // nothing, if it is of another kind
std::optional<std::int64_t> json_to_int(RawJson value);    // whole numbers only: 3, also 3.0
std::optional<double> json_to_double(RawJson value);

struct JsonMember {
  std::string_view name;  // unescaped; lives until the next use of the same reader
  RawJson value;
};

// Takes valid JSON objects apart. Reuse one for speed; not thread-safe.
class JsonObjectReader {
 public:
  JsonObjectReader();
  ~JsonObjectReader();
  JsonObjectReader(JsonObjectReader&&) noexcept;
  JsonObjectReader& operator=(JsonObjectReader&&) noexcept;

  // The members in order, repeated names included. `text` must be valid JSON (validate_json, or a
  // checksum that matched) and an object; false if it turns out not to be. `kPadding` readable
  // bytes must follow it. The result lives until the next call.
  static constexpr std::size_t kPadding = 64;
  bool read_padded(std::string_view text, std::vector<JsonMember>& members);

  // The same for text that has no such bytes after it: copies it first.
  bool read(std::string_view text, std::vector<JsonMember>& members);

 private:
  struct State;
  class Spare;
  std::unique_ptr<State> state_;
};

// The same text for scalars of equal value: strings by content, numbers by value. Nothing for
// objects and arrays.
std::optional<std::string> canonical_scalar(RawJson value);

}  // namespace skein
