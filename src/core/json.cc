#include "core/json.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

namespace ondemand = simdjson::ondemand;

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

std::uint32_t hex4(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + std::min<std::size_t>(4, text.size()), value, 16);
  return value;
}

// `escape` begins behind the backslash; answers how many bytes it took.
std::size_t append_unescaped(std::string& out, std::string_view escape) {
  switch (escape.empty() ? '\0' : escape[0]) {
    case 'b':
      out.push_back('\b');
      return 1;
    case 'f':
      out.push_back('\f');
      return 1;
    case 'n':
      out.push_back('\n');
      return 1;
    case 'r':
      out.push_back('\r');
      return 1;
    case 't':
      out.push_back('\t');
      return 1;
    case 'u':
      break;
    case '\0':
      return 0;
    default:
      out.push_back(escape[0]);
      return 1;
  }
  const std::uint32_t high = hex4(escape.substr(1));
  if (high < 0xD800 || high > 0xDBFF || escape.size() < 11) {
    append_utf8(out, high);
    return std::min<std::size_t>(5, escape.size());
  }
  const std::uint32_t low = hex4(escape.substr(7));
  append_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
  return 11;
}

template <class Number>
void append_number(std::string& out, Number value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

// Decimal digits and a power of ten: exact, however large or fine the number is.
std::string canonical_number(RawJson number) {
  const RawJson unsigned_part = number.substr(number.starts_with('-') ? 1 : 0);
  const std::size_t end = std::min(unsigned_part.find_first_of("eE"), unsigned_part.size());
  const RawJson mantissa = unsigned_part.substr(0, end);
  std::string digits(mantissa);
  std::int64_t exponent = 0;
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    exponent -= static_cast<std::int64_t>(digits.size() - point);
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  if (end < unsigned_part.size()) {
    const RawJson power = unsigned_part.substr(unsigned_part[end + 1] == '+' ? end + 2 : end + 1);
    std::int32_t value = 0;
    const auto parsed = std::from_chars(power.data(), power.data() + power.size(), value);
    if (parsed.ec != std::errc()) return std::string(number);
    exponent += value;
  }
  const std::size_t significant = digits.find_last_not_of('0') + 1;
  exponent += static_cast<std::int64_t>(digits.size() - significant);
  digits.resize(significant);
  if (number.starts_with('-')) digits.insert(0, 1, '-');
  constexpr std::int64_t kMaxZeros = 20;
  if (exponent >= 0 && exponent <= kMaxZeros) {
    digits.append(static_cast<std::size_t>(exponent), '0');
  } else {
    digits += 'e';
    append_number(digits, exponent);
  }
  return digits;
}

void append_canonical(std::string& out, ondemand::value value);

void append_canonical_object(std::string& out, ondemand::object object) {
  std::vector<std::pair<std::string, std::string>> members;
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return;
    auto& member = members.emplace_back(name, std::string());
    append_canonical(member.second, field.value().value_unsafe());
  }
  std::sort(members.begin(), members.end());
  out.push_back('{');
  for (const auto& [name, text] : members) {
    append_json_string(out, name);
    out += ':';
    out += text;
    out += ',';
  }
  out.push_back('}');
}

void append_canonical(std::string& out, ondemand::value value) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return;
  if (type == ondemand::json_type::object) {
    append_canonical_object(out, value.get_object().value_unsafe());
  } else if (type == ondemand::json_type::array) {
    out.push_back('[');
    ondemand::array array = value.get_array().value_unsafe();
    for (auto element : array) {
      append_canonical(out, element.value_unsafe());
      out.push_back(',');
    }
    out.push_back(']');
  } else {
    out += canonical_scalar(trim_json(value.raw_json_token())).value_or("");
  }
}

std::string canonical(const Json& json) {
  const RawJson text = json.text();
  if (json.kind() != Json::Kind::kObject && json.kind() != Json::Kind::kArray) {
    return canonical_scalar(text).value_or("");
  }
  const std::string wrapped = "[" + std::string(text) + "]";
  ondemand::parser parser;
  const simdjson::padded_string padded(wrapped);
  ondemand::document document;
  std::string out;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return wrapped;
  ondemand::array array = document.get_array().value_unsafe();
  for (auto element : array) {
    append_canonical(out, element.value_unsafe());
  }
  return out;
}

}  // namespace

std::string_view trim_json(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool valid_utf8(std::string_view text) { return simdjson::validate_utf8(text); }

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  std::size_t clean = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, clean, i - clean);
    clean = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out.push_back("0123456789abcdef"[c >> 4]);
        out.push_back("0123456789abcdef"[c & 0xF]);
    }
  }
  out.append(text, clean, text.size() - clean);
  out.push_back('"');
}

void append_json_on_one_line(std::string& out, std::string_view json) {
  const std::size_t start = out.size();
  out += json;
  if (json.find('\n') == json.npos && json.find('\r') == json.npos) return;
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return c == '\r' || c == '\n'; }, ' ');
}

void append_json_number(std::string& out, std::uint64_t value) { append_number(out, value); }
void append_json_number(std::string& out, std::int64_t value) { append_number(out, value); }
void append_json_number(std::string& out, double value) { append_number(out, value); }

void unescape_json_string(RawJson token, std::string& out) {
  out.clear();
  if (token.size() < 2) return;
  std::string_view rest = token.substr(1, token.size() - 2);
  for (;;) {
    const std::size_t backslash = rest.find('\\');
    out.append(rest.substr(0, backslash));
    if (backslash == std::string_view::npos) return;
    rest.remove_prefix(backslash + 1);
    rest.remove_prefix(append_unescaped(out, rest));
  }
}

std::string unescape_json_string(RawJson token) {
  std::string out;
  unescape_json_string(token, out);
  return out;
}

std::optional<std::string> json_to_string(RawJson value) {
  if (value.empty() || value[0] != '"') return std::nullopt;
  return unescape_json_string(value);
}

std::optional<std::int64_t> json_to_int(RawJson value) {
  if (value.empty() || (value[0] != '-' && (value[0] < '0' || value[0] > '9'))) return std::nullopt;
  std::int64_t number = 0;
  const auto reads_whole = [&number](std::string_view text) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  };
  if (reads_whole(value) || reads_whole(canonical_number(value))) return number;
  return std::nullopt;
}

std::optional<double> json_to_double(RawJson value) {
  double number = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::string> canonical_scalar(RawJson value) {
  if (value.empty() || value[0] == '{' || value[0] == '[') return std::nullopt;
  if (value[0] == '"') {
    std::string out;
    append_json_string(out, unescape_json_string(value));
    return out;
  }
  if (value[0] == 't' || value[0] == 'f' || value[0] == 'n') return std::string(value);
  return canonical_number(value);
}

struct JsonObjectReader::State {
  ondemand::parser parser;
  std::string copy;
};

// To make a parser takes longer than to read a small object with it, so each thread keeps some.
class JsonObjectReader::Spare {
 public:
  static std::unique_ptr<State> take() {
    if (ended_) return std::make_unique<State>();
    auto& kept = of_thread().kept_;
    if (kept.empty()) return std::make_unique<State>();
    auto state = std::move(kept.back());
    kept.pop_back();
    return state;
  }

  static void put(std::unique_ptr<State> state) {
    if (!state || ended_ || of_thread().kept_.size() >= kMost) return;
    if (state->parser.capacity() > kMostBytes || state->copy.capacity() > kMostBytes) return;
    of_thread().kept_.push_back(std::move(state));
  }

 private:
  // A parser takes some seven times the bytes of what it can read.
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kMostBytes = std::size_t{2} << 10;

  Spare() { kept_.reserve(kMost); }  // so that giving back cannot fail
  ~Spare() { ended_ = true; }
  static Spare& of_thread() {
    static thread_local Spare spare;
    return spare;
  }

  // Readers may outlive what their thread keeps.
  static inline thread_local bool ended_ = false;
  std::vector<std::unique_ptr<State>> kept_;
};

JsonObjectReader::JsonObjectReader() : state_(Spare::take()) {}
JsonObjectReader::~JsonObjectReader() { Spare::put(std::move(state_)); }
JsonObjectReader::JsonObjectReader(JsonObjectReader&&) noexcept = default;
JsonObjectReader& JsonObjectReader::operator=(JsonObjectReader&&) noexcept = default;

bool JsonObjectReader::read_padded(std::string_view text, std::vector<JsonMember>& members) {
  static_assert(kPadding >= simdjson::SIMDJSON_PADDING);
  members.clear();
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kPadding);
  ondemand::document document;
  ondemand::object object;
  if (state_->parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    JsonMember member;
    ondemand::value value;
    if (field.unescaped_key().get(member.name) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    if (simdjson::to_json_string(value).get(member.value) != simdjson::SUCCESS) return false;
    member.value = trim_json(member.value);
    members.push_back(member);
  }
  return true;
}

bool JsonObjectReader::read(std::string_view text, std::vector<JsonMember>& members) {
  std::string& copy = state_->copy;
  copy.reserve(text.size() + kPadding);
  copy.assign(text);
  return read_padded(copy, members);
}

Result<Json> Json::parse(std::string_view text) {
  const std::string_view trimmed = trim_json(text);
  SKEIN_TRY(validate_json(trimmed, "JSON"));
  return Json(std::string(trimmed));
}

Result<Json> Json::parse_object(std::string_view text) {
  SKEIN_ASSIGN(Json json, parse(text));
  if (json.kind() == Kind::kObject) return json;
  return fail(ErrorCode::kInvalid, "JSON must be an object, got " + quote(json.text()));
}

Json Json::string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return Json(std::move(out));
}

Json Json::number(long long value) { return Json(std::to_string(value)); }

Json::Kind Json::kind() const {
  switch (text_.empty() ? '\0' : text_[0]) {
    case '\0':
      return Kind::kAbsent;
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
      return Kind::kNull;
    default:
      return Kind::kNumber;
  }
}

bool same_json(const Json& a, const Json& b) {
  if (a.text() == b.text()) return true;
  if (a.kind() != b.kind()) return false;
  return canonical(a) == canonical(b);
}

}  // namespace skein
