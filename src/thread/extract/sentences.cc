#include "thread/extract/sentences.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace skein {
namespace {

struct Char {
  utf8proc_int32_t code = 0;
  std::size_t size = 1;
};

Char char_at(std::string_view text, std::size_t at) {
  Char c;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                     static_cast<utf8proc_ssize_t>(text.size() - at), &c.code);
  if (size > 0) c.size = static_cast<std::size_t>(size);
  return c;
}

bool ends_anywhere(utf8proc_int32_t c) {
  switch (c) {
    case 0x3002:  // 。
    case 0xFF01:  // ！
    case 0xFF1F:  // ？
    case 0xFF61:  // ｡
    case 0x0964:  // danda
    case 0x0965:
    case 0x06D4:  // Urdu full stop
    case 0x061F:  // Arabic question mark
      return true;
    default:
      return false;
  }
}

bool ends_before_space(utf8proc_int32_t c) {
  return c == '.' || c == '!' || c == '?' || c == 0x2026;
}

bool closes(utf8proc_int32_t c) {
  return c == ')' || c == ']' || c == '"' || c == '\'' || c == 0x201D || c == 0x2019 ||
         c == 0x300D || c == 0x300F || c == 0xFF09 || c == 0xBB || c == '*' || c == '_';
}

// Whether the dot at `dot` belongs to "e.g.", "Dr." or "J.", and not to the end of a sentence.
bool is_abbreviation(std::string_view text, std::size_t begin, std::size_t dot) {
  std::size_t word = dot;
  while (word > begin && std::isalpha(static_cast<unsigned char>(text[word - 1])) != 0) --word;
  const std::string_view letters = text.substr(word, dot - word);
  if (letters.size() == 1) return true;
  static constexpr std::array<std::string_view, 14> kKnown = {
      "Dr", "Mr", "Mrs", "Ms", "St", "vs", "etc", "cf", "approx", "Prof", "Fig", "No", "al", "Inc"};
  return std::find(kKnown.begin(), kKnown.end(), letters) != kKnown.end() &&
         dot + 1 < text.size() && text[dot + 1] == ' ';
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

// Without "- ", "* ", "# ", "> " and "12. ".
std::string_view without_list_mark(std::string_view line) {
  line = trimmed(line);
  const std::size_t mark = line.find_first_not_of("-*#>+");
  if (mark != std::string_view::npos && mark > 0 && line[mark] == ' ') {
    return trimmed(line.substr(mark));
  }
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) {
    ++digits;
  }
  if (digits > 0 && digits < 4 && line.substr(digits, 2) == ". ") {
    return trimmed(line.substr(digits + 2));
  }
  return line;
}

// After the end of a sentence at `at`: past further marks, quotes and brackets.
std::size_t past_closing(std::string_view line, std::size_t at) {
  while (at < line.size()) {
    const Char c = char_at(line, at);
    if (!closes(c.code) && !ends_anywhere(c.code) && !ends_before_space(c.code)) break;
    at += c.size;
  }
  return at;
}

void split_line(std::string_view line, std::vector<std::string_view>& sentences) {
  line = without_list_mark(line);
  std::size_t begin = 0;
  const auto cut = [&](std::size_t end) {
    const std::string_view sentence = trimmed(line.substr(begin, end - begin));
    if (!sentence.empty()) sentences.push_back(sentence);
    begin = end;
  };
  for (std::size_t at = 0; at < line.size();) {
    const Char c = char_at(line, at);
    const std::size_t after = past_closing(line, at + c.size);
    const bool space_follows = after >= line.size() || line[after] == ' ' || line[after] == '\t';
    const bool ends =
        ends_anywhere(c.code) || (ends_before_space(c.code) && space_follows &&
                                  !(c.code == '.' && is_abbreviation(line, begin, at)));
    at = ends ? after : at + c.size;
    if (ends) cut(after);
  }
  cut(line.size());
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view text) {
  std::vector<std::string_view> sentences;
  bool code = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (trimmed(line).starts_with("```")) {
      code = !code;
    } else if (!code) {
      split_line(line, sentences);
    }
  }
  return sentences;
}

}  // namespace skein
