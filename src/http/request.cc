#include "http/request.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <charconv>

#include "core/json.h"
#include "core/quote.h"

namespace skein::http {
namespace {

constexpr std::pair<Access, const char*> kAccesses[] = {{Access::kOpen, "open"},
                                                        {Access::kRead, "read"},
                                                        {Access::kWrite, "write"},
                                                        {Access::kAdmin, "admin"}};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

const char* to_string(Access access) {
  for (const auto& [known, word] : kAccesses) {
    if (known == access) return word;
  }
  return "?";
}

Result<Access> parse_access(std::string_view text) {
  for (const auto& [known, word] : kAccesses) {
    if (text == word && known != Access::kOpen) return known;
  }
  return fail(ErrorCode::kInvalid, "access must be read, write or admin, got " + quote(text));
}

bool Caller::sees(std::string_view agent_id) const {
  return all_agents || std::find(agents.begin(), agents.end(), agent_id) != agents.end();
}

const std::string& Request::parameter(std::string_view name) const {
  static const std::string kNone;
  for (const auto& [known, value] : parameters) {
    if (known == name) return value;
  }
  assert(false && "the route's path has no such parameter");
  return kNone;
}

std::optional<std::string> Request::query(std::string_view name) const {
  for (const auto& [known, value] : queries) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Request::all_queries(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [known, value] : queries) {
    if (known == name) found.push_back(value);
  }
  return found;
}

Result<std::optional<std::uint64_t>> Request::query_number(std::string_view name, std::uint64_t min,
                                                           std::uint64_t max) const {
  const auto text = query(name);
  if (!text) return std::optional<std::uint64_t>();
  std::uint64_t value = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && stopped == end && value >= min && value <= max) return value;
  return fail(ErrorCode::kInvalid, std::string(name) + " must be a whole number from " +
                                       std::to_string(min) + " to " + std::to_string(max) +
                                       ", got " + quote(*text));
}

Result<std::optional<bool>> Request::query_flag(std::string_view name) const {
  const auto text = query(name);
  if (!text) return std::optional<bool>();
  if (*text == "true" || *text == "false") return *text == "true";
  return fail(ErrorCode::kInvalid,
              std::string(name) + " must be true or false, got " + quote(*text));
}

Result<std::optional<Timestamp>> Request::query_time(std::string_view name) const {
  const auto text = query(name);
  if (!text) return std::optional<Timestamp>();
  auto time = Timestamp::parse(*text);
  if (time) return *time;
  return fail(ErrorCode::kInvalid, std::string(name) + ": " + time.error().message);
}

std::optional<std::string> Request::header(std::string_view name) const {
  const std::string* const found = find_header(headers, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool is_header(const HttpHeader& header, std::string_view name) {
  return std::equal(
      header.name.begin(), header.name.end(), name.begin(), name.end(),
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

const std::string* find_header(const std::vector<HttpHeader>& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& header) {
    return is_header(header, name);
  });
  return found == headers.end() ? nullptr : &found->value;
}

std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    decoded += c;
  }
  if (!valid_utf8(decoded)) return std::nullopt;
  return decoded;
}

}  // namespace skein::http
