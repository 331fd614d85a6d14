#include "core/quote.h"

#include "core/json.h"

namespace skein {
namespace {

// Length of the UTF-8 sequence at the front of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    if (valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

// Moves whole characters from the front of `text`, until there are `max_bytes`.
std::string take_characters(std::string_view& text, std::size_t max_bytes) {
  std::string taken;
  while (!text.empty() && taken.size() < max_bytes) {
    const std::size_t length = sequence_length(text);
    taken.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return taken;
}

}  // namespace

std::string quote(std::string_view text, std::size_t max_bytes) {
  std::string out;
  append_json_string(out, take_characters(text, max_bytes));
  if (!text.empty()) out += "…";
  return out;
}

std::string mended_utf8(std::string_view text) {
  if (valid_utf8(text)) return std::string(text);
  return take_characters(text, std::string_view::npos);
}

std::string excerpt(std::string_view json, std::size_t max_bytes) {
  std::string out = take_characters(json, max_bytes);
  if (!json.empty()) out += "…";
  return out;
}

std::string plain_json(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '"') {
      out += json[i] == '\n' || json[i] == '\r' ? ' ' : json[i];
      continue;
    }
    std::size_t end = i + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    append_json_string(out, unescape_json_string(json.substr(i, end + 1 - i)));
    i = end;
  }
  return out;
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace skein
