// JSON from outside: accepted exactly when a plain reading of the grammar accepts it, and taken
// apart into the same values as another library finds.

#include <boost/json.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "skein/limits.h"

namespace {

using namespace skein;

// RFC 8259 word for word, with UTF-8, paired surrogates and the limit on depth.
class Grammar {
 public:
  explicit Grammar(std::string_view text) : rest_(text) {}

  bool accepts() {
    space();
    if (!value(0)) return false;
    space();
    return rest_.empty();
  }
  // Whether there was a number of a size that an implementation may refuse.
  bool immense() const { return immense_; }

 private:
  static constexpr std::size_t kPlainExponentDigits = 8;

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void space() {
    while (!rest_.empty() &&
           std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos)
      rest_.remove_prefix(1);
  }
  bool digits() {
    std::size_t count = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') ++count;
    rest_.remove_prefix(count);
    return count > 0;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      const std::size_t before = rest_.size();
      const bool good = digits();
      if (before - rest_.size() > kPlainExponentDigits) immense_ = true;
      return good;
    }
    return true;
  }
  bool hex4(unsigned& code) {
    if (rest_.size() < 4) return false;
    code = 0;
    for (int i = 0; i < 4; ++i) {
      const auto c = static_cast<unsigned char>(rest_[static_cast<std::size_t>(i)]);
      if (!std::isxdigit(c)) return false;
      code = code * 16 + (std::isdigit(c) ? c - '0' : (c | 0x20U) - 'a' + 10U);
    }
    rest_.remove_prefix(4);
    return true;
  }
  bool escape() {
    if (!take('u')) {
      if (rest_.empty() ||
          std::string_view("\"\\/bfnrt").find(rest_.front()) == std::string_view::npos)
        return false;
      rest_.remove_prefix(1);
      return true;
    }
    unsigned code = 0;
    if (!hex4(code)) return false;
    if (code >= 0xDC00 && code <= 0xDFFF) return false;
    if (code < 0xD800 || code > 0xDBFF) return true;
    return take("\\u") && hex4(code) && code >= 0xDC00 && code <= 0xDFFF;
  }
  bool string() {
    if (!take('"')) return false;
    while (!rest_.empty()) {
      if (take('"')) return true;
      if (take('\\')) {
        if (!escape()) return false;
        continue;
      }
      if (static_cast<unsigned char>(rest_.front()) < 0x20) return false;
      rest_.remove_prefix(1);
    }
    return false;
  }
  bool object(std::size_t depth) {
    space();
    if (take('}')) return true;
    do {
      space();
      if (!string()) return false;
      space();
      if (!take(':')) return false;
      space();
      if (!value(depth)) return false;
      space();
    } while (take(','));
    return take('}');
  }
  bool array(std::size_t depth) {
    space();
    if (take(']')) return true;
    do {
      space();
      if (!value(depth)) return false;
      space();
    } while (take(','));
    return take(']');
  }
  bool value(std::size_t depth) {
    if (rest_.empty()) return false;
    if (rest_.front() == '{' || rest_.front() == '[') {
      const bool is_object = rest_.front() == '{';
      rest_.remove_prefix(1);
      if (depth == limits::kMaxJsonDepth) return false;
      return is_object ? object(depth + 1) : array(depth + 1);
    }
    if (rest_.front() == '"') return string();
    return take("true") || take("false") || take("null") || number();
  }

  std::string_view rest_;
  bool immense_ = false;
};

boost::json::value parse_other(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = limits::kMaxJsonDepth + 1;
  boost::json::error_code error;
  auto value = boost::json::parse({text.data(), text.size()}, error, {}, options);
  FUZZ_CHECK(!error);
  return value;
}

void check_scalar(RawJson raw, const boost::json::value& value) {
  if (value.is_string()) {
    FUZZ_CHECK(json_to_string(raw) ==
               std::string(value.get_string().c_str(), value.get_string().size()));
  } else {
    FUZZ_CHECK(!json_to_string(raw));
  }
  if (value.is_int64()) FUZZ_CHECK(json_to_int(raw) == value.get_int64());
  if (value.is_double() && std::isfinite(value.get_double())) {
    const auto number = json_to_double(raw);
    // The other library may be off by the last digit.
    if (number) FUZZ_CHECK(std::abs(*number - value.get_double()) <= std::abs(*number) * 1e-15);
  }
  const bool scalar = !value.is_object() && !value.is_array();
  FUZZ_CHECK(canonical_scalar(raw).has_value() == scalar);
  if (!scalar) return;
  const std::string canonical = *canonical_scalar(raw);
  FUZZ_CHECK(Grammar(canonical).accepts());
  FUZZ_CHECK(canonical_scalar(canonical) == canonical);
}

void check_object(std::string_view text, const boost::json::object& object) {
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  FUZZ_CHECK(reader.read(text, members));
  std::map<std::string, RawJson> last;
  for (const JsonMember& member : members) {
    FUZZ_CHECK(Grammar(member.value).accepts());
    last[std::string(member.name)] = member.value;
  }
  FUZZ_CHECK(last.size() == object.size());
  for (const auto& [name, raw] : last) {
    const auto* found = object.if_contains(name);
    FUZZ_CHECK(found != nullptr);
    check_scalar(raw, *found);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const bool accepted = validate_json(text, "input").has_value();
  Grammar grammar(text);
  const bool acceptable = grammar.accepts() && valid_utf8(text);
  FUZZ_CHECK(accepted == acceptable || (grammar.immense() && !accepted));

  if (valid_utf8(text)) {
    std::string quoted;
    append_json_string(quoted, text);
    FUZZ_CHECK(Grammar(quoted).accepts());
    FUZZ_CHECK(unescape_json_string(quoted) == text);
  }
  const auto json = Json::parse(text);
  FUZZ_CHECK(json.has_value() == accepted);
  if (!accepted) return 0;
  const auto value = parse_other(text);
  if (value.is_object()) check_object(json->text(), value.get_object());
  if (!value.is_object() && !value.is_array()) check_scalar(json->text(), value);
  return 0;
}
