#include "thread/tokens/split.h"

#include <utf8proc.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace skein {
namespace {

// The classes that the expression tells apart.
enum Class : std::uint8_t {
  kUpper,      // Lu, Lt
  kLower,      // Ll
  kCaseless,   // Lm, Lo: counts as upper and as lower
  kMark,       // M: the same, but it is no letter and can be a prefix or a symbol, too
  kNumber,     // N
  kLineBreak,  // \r \n
  kSpace,      // \s but those
  kSymbol,     // everything else
};

constexpr std::array<Class, 128> kAscii = [] {
  std::array<Class, 128> classes{};
  for (unsigned c = 0; c < 128; ++c) {
    classes[c] = c >= 'A' && c <= 'Z'                              ? kUpper
                 : c >= 'a' && c <= 'z'                            ? kLower
                 : c >= '0' && c <= '9'                            ? kNumber
                 : c == '\r' || c == '\n'                          ? kLineBreak
                 : c == ' ' || c == '\t' || c == '\v' || c == '\f' ? kSpace
                                                                   : kSymbol;
  }
  return classes;
}();

Class class_of(utf8proc_int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kCaseless;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kSpace;
    default:
      return c == 0xFEFF ? kSpace : kSymbol;
  }
}

struct Char {
  Class cls;
  std::uint8_t size;
};

Char slow_char_at(const char* at, const char* end) {
  utf8proc_int32_t c = 0;
  const utf8proc_ssize_t size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(at), end - at, &c);
  if (size <= 0) return {kSymbol, 1};
  return {class_of(c), static_cast<std::uint8_t>(size)};
}

inline Char char_at(const char* at, const char* end) {
  const auto byte = static_cast<unsigned char>(*at);
  if (byte < 0x80) [[likely]]
    return {kAscii[byte], 1};
  return slow_char_at(at, end);
}

inline bool is_either(Class cls) { return cls == kCaseless || cls == kMark; }
inline bool is_upper(Class cls) { return cls == kUpper || is_either(cls); }
inline bool is_lower(Class cls) { return cls == kLower || is_either(cls); }
inline bool begins_word(Class cls) { return cls <= kMark; }

template <class Matches>
const char* skip(const char* at, const char* end, Matches matches) {
  while (at < end) {
    const Char next = char_at(at, end);
    if (!matches(next.cls)) break;
    at += next.size;
  }
  return at;
}

// 's 't 're 've 'm 'll 'd after a word, in any case.
const char* skip_contraction(const char* at, const char* end) {
  if (end - at < 2 || *at != '\'') return at;
  const auto lower = [at](int i) { return static_cast<char>(at[i] | 0x20); };
  const char first = lower(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  if (end - at < 3) return at;
  const char second = lower(2);
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
      (first == 'l' && second == 'l')) {
    return at + 3;
  }
  return at;
}

// The first alternative without its prefix: upper*, lower+. Null if it does not match.
const char* lower_word_end(const char* at, const char* end) {
  const char* after_either = nullptr;
  while (at < end) {
    const Char next = char_at(at, end);
    if (!is_upper(next.cls)) break;
    at += next.size;
    if (is_either(next.cls)) after_either = at;
  }
  const char* lower_end = skip(at, end, is_lower);
  // With no lower-case letter to follow, the last that is either gives itself up to be it.
  return lower_end > at ? lower_end : after_either;
}

// Both alternatives for words. One of them fits: `word` is at a letter or mark, or, where it begins
// after a prefix, that prefix is a mark.
const char* word_end(const char* begin, const char* word, const char* end) {
  const char* found = lower_word_end(word, end);
  if (found == nullptr && word > begin) found = lower_word_end(begin, end);
  if (found == nullptr) found = skip(word, end, is_upper);
  return skip_contraction(found, end);
}

const char* number_end(const char* at, const char* end) {
  for (int digits = 0; digits < 3 && at < end; ++digits) {
    const Char next = char_at(at, end);
    if (next.cls != kNumber) break;
    at += next.size;
  }
  return at;
}

const char* symbols_end(const char* at, const char* end) {
  at = skip(at, end, [](Class cls) { return cls == kSymbol || cls == kMark; });
  while (at < end && (*at == '\r' || *at == '\n' || *at == '/')) ++at;
  return at;
}

// At white space that begins no word and no symbols.
const char* space_end(const char* at, const char* end) {
  const char* after_line_break = nullptr;
  const char* last = at;  // the last of the white space
  const char* scan = at;
  while (scan < end) {
    const Char next = char_at(scan, end);
    if (next.cls != kSpace && next.cls != kLineBreak) break;
    last = scan;
    scan += next.size;
    if (next.cls == kLineBreak) after_line_break = scan;
  }
  if (after_line_break != nullptr) return after_line_break;
  // What follows takes the last one along, unless that is all there is.
  return scan < end && last > at ? last : scan;
}

}  // namespace

const char* piece_end(const char* at, const char* end) {
  const Char first = char_at(at, end);
  const char* next = at + first.size;
  if (first.cls == kNumber) return number_end(at, end);
  if (first.cls < kMark) return word_end(at, at, end);
  if (first.cls == kMark) return word_end(at, next, end);
  const Class following = next < end ? char_at(next, end).cls : kNumber;
  if (first.cls != kLineBreak && begins_word(following)) return word_end(at, next, end);
  if (first.cls == kSymbol) return symbols_end(at, end);
  if (*at == ' ' && following == kSymbol) return symbols_end(next, end);
  return space_end(at, end);
}

}  // namespace skein
