// The one place that looks at every byte of JSON from outside, by Boost.JSON's incremental parser.
#include <boost/json/basic_parser_impl.hpp>

#include "core/json.h"
#include "core/quote.h"
#include "skein/limits.h"

namespace skein {
namespace {

namespace json = boost::json;

// Accepts whatever the grammar accepts.
struct Accept {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  using Code = json::error_code;
  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return true; }
  bool on_object_end(std::size_t, Code&) { return true; }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(std::size_t, Code&) { return true; }
  bool on_key_part(json::string_view, std::size_t, Code&) { return true; }
  bool on_key(json::string_view, std::size_t, Code&) { return true; }
  bool on_string_part(json::string_view, std::size_t, Code&) { return true; }
  bool on_string(json::string_view, std::size_t, Code&) { return true; }
  bool on_number_part(json::string_view, Code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, Code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, Code&) { return true; }
  bool on_double(double, json::string_view, Code&) { return true; }
  bool on_bool(bool, Code&) { return true; }
  bool on_null(Code&) { return true; }
  bool on_comment_part(json::string_view, Code&) { return true; }
  bool on_comment(json::string_view, Code&) { return true; }
};

}  // namespace

Result<void> validate_json(std::string_view text, std::string_view what, std::size_t max_depth) {
  if (!valid_utf8(text)) {
    return fail(ErrorCode::kInvalid,
                std::string(what) + " must be valid UTF-8, got " + quote(text));
  }
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<Accept> parser(options);
  json::error_code code;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), code);
  if (!code && used == text.size()) return {};
  const std::string reason =
      code ? (code == json::error::too_deep
                  ? "nested deeper than " + std::to_string(max_depth) + " levels"
                  : code.message())
           : std::string("more text after the value");
  return fail(ErrorCode::kInvalid, std::string(what) + " is not valid JSON: " + reason +
                                       " at byte " + std::to_string(used) + " of " + quote(text));
}

}  // namespace skein
