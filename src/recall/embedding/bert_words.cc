#include "recall/embedding/bert_words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <compare>
#include <vector>

namespace skein {
namespace {

using Text = std::u32string;

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kCapitalDottedI = 0x130;
constexpr char32_t kCombiningDot = 0x307;

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t kSize>
bool is_in(const std::array<Range, kSize>& ranges, char32_t c) {
  return std::ranges::any_of(
      ranges, [c](const Range& range) { return range.first <= c && c <= range.last; });
}

bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
      return true;
    default:
      return false;
  }
}

// What a regular expression of JavaScript calls \s.
bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0xFEFF || c == 0x2028 || c == 0x2029 || category_of(c) == UTF8PROC_CATEGORY_ZS;
}

bool is_han(char32_t c) {
  static constexpr std::array<Range, 3> kHan = {
      {{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0xF900, 0xFAFF}}};
  return c >= 0x3400 && is_in(kHan, c);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    static constexpr std::array<Range, 4> kAscii = {
        {{0x21, 0x2F}, {0x3A, 0x40}, {0x5B, 0x60}, {0x7B, 0x7E}}};
    return is_in(kAscii, c);
  }
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

// Unicode's property Case_Ignorable.
bool is_case_ignorable(char32_t c) {
  static constexpr std::u32string_view kWithinWords =
      U"':.\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return kWithinWords.find(c) != std::u32string_view::npos;
  }
}

// Unicode's property Cased, of characters that are not Case_Ignorable.
bool is_cased(char32_t c) {
  static constexpr std::array<Range, 7> kOthers = {{{0xAA, 0xAA},
                                                    {0xBA, 0xBA},
                                                    {0x2160, 0x217F},
                                                    {0x24B6, 0x24E9},
                                                    {0x1F130, 0x1F149},
                                                    {0x1F150, 0x1F169},
                                                    {0x1F170, 0x1F189}}};
  const utf8proc_category_t category = category_of(c);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT || is_in(kOthers, c);
}

// Unicode's condition Final_Sigma.
bool ends_a_word(const Text& text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void clean(Text& text) {
  std::erase_if(text, [](char32_t c) { return c == 0 || c == 0xFFFD || is_control(c); });
  std::ranges::replace_if(text, is_space, U' ');
}

void space_han(Text& text) {
  if (std::ranges::none_of(text, is_han)) return;
  Text spaced;
  for (const char32_t c : text) {
    if (is_han(c)) {
      spaced += {U' ', c, U' '};
    } else {
      spaced += c;
    }
  }
  text = std::move(spaced);
}

void lowercase(Text& text) {
  Text lower;
  lower.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kCapitalSigma) {
      lower += ends_a_word(text, i) ? kFinalSigma : kSigma;
    } else if (text[i] == kCapitalDottedI) {
      lower += {U'i', kCombiningDot};
    } else {
      lower += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(text[i])));
    }
  }
  text = std::move(lower);
}

int combining_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// Sorts each run of marks by their classes, and leaves those of one class as they are.
void order_marks(Text& text) {
  struct Mark {
    int mark_class;
    std::size_t at;
    char32_t c;
    auto operator<=>(const Mark&) const = default;
  };
  std::vector<Mark> marks;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const int mark_class = at == text.size() ? 0 : combining_class(text[at]);
    if (mark_class != 0) {
      marks.push_back({mark_class, at, text[at]});
      continue;
    }
    std::ranges::sort(marks);
    for (std::size_t i = 0; i < marks.size(); ++i) text[at - marks.size() + i] = marks[i].c;
    marks.clear();
  }
}

// Unicode NFD, without the marks that take no room.
void strip_accents(Text& text) {
  Text decomposed;
  decomposed.reserve(text.size());
  for (const char32_t c : text) {
    std::array<utf8proc_int32_t, 32> parts{};
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
                                UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      decomposed += static_cast<char32_t>(parts[static_cast<std::size_t>(i)]);
    }
  }
  order_marks(decomposed);
  std::erase_if(decomposed, [](char32_t c) { return category_of(c) == UTF8PROC_CATEGORY_MN; });
  text = std::move(decomposed);
}

void normalize(Text& text, const BertNormalizer& normalizer) {
  if (normalizer.clean_text) clean(text);
  if (normalizer.space_han) space_han(text);
  if (normalizer.lowercase) lowercase(text);
  if (normalizer.strip_accents) strip_accents(text);
}

void decode(std::string_view utf8, Text& text) {
  text.clear();
  for (std::size_t at = 0; at < utf8.size();) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()) + at,
                         static_cast<utf8proc_ssize_t>(utf8.size() - at), &c);
    if (size <= 0) {
      ++at;
      continue;
    }
    text += static_cast<char32_t>(c);
    at += static_cast<std::size_t>(size);
  }
}

void append_utf8(std::string& out, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

// The words of normalised text. False as soon as `take` says so.
bool take_words(const Text& text, const std::function<bool(std::string_view)>& take) {
  std::string word;
  const auto finish = [&word, &take] {
    if (word.empty()) return true;
    const bool more = take(word);
    word.clear();
    return more;
  };
  for (const char32_t c : text) {
    const bool alone = is_punctuation(c);
    if ((alone || is_space(c)) && !finish()) return false;
    if (is_space(c)) continue;
    append_utf8(word, c);
    if (alone && !finish()) return false;
  }
  return finish();
}

}  // namespace

void for_each_bert_word(std::string_view text, const BertNormalizer& normalizer,
                        const std::function<bool(std::string_view word)>& take) {
  // These separate words whatever the normalizer does, and nothing of it looks across them: a long
  // text is normalised only as far as it is wanted.
  constexpr std::string_view kSeparators = " \t\r\n";
  Text piece;
  for (std::size_t at = text.find_first_not_of(kSeparators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    decode(text.substr(at, end - at), piece);
    normalize(piece, normalizer);
    if (!take_words(piece, take)) return;
    at = text.find_first_not_of(kSeparators, end);
  }
}

}  // namespace skein
