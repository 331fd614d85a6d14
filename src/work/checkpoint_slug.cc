#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/quote.h"
#include "skein/checkpoints.h"

namespace skein {
namespace {

constexpr std::size_t kMaxSlugBytes = 48;

struct Spelling {
  utf8proc_int32_t code;
  const char* ascii;
};

// Lower-case letters that have no ASCII letter in them, sorted by code.
constexpr auto kSpellings = std::to_array<Spelling>({
    {0x00DF, "ss"},
    {0x00E6, "ae"},
    {0x00F0, "d"},
    {0x00F8, "o"},
    {0x00FE, "th"},
    {0x0111, "d"},
    {0x0127, "h"},
    {0x0131, "i"},
    {0x0142, "l"},
    {0x0153, "oe"},
    // Greek
    {0x03B1, "a"},
    {0x03B2, "v"},
    {0x03B3, "g"},
    {0x03B4, "d"},
    {0x03B5, "e"},
    {0x03B6, "z"},
    {0x03B7, "i"},
    {0x03B8, "th"},
    {0x03B9, "i"},
    {0x03BA, "k"},
    {0x03BB, "l"},
    {0x03BC, "m"},
    {0x03BD, "n"},
    {0x03BE, "x"},
    {0x03BF, "o"},
    {0x03C0, "p"},
    {0x03C1, "r"},
    {0x03C2, "s"},
    {0x03C3, "s"},
    {0x03C4, "t"},
    {0x03C5, "y"},
    {0x03C6, "f"},
    {0x03C7, "ch"},
    {0x03C8, "ps"},
    {0x03C9, "o"},
    // Cyrillic; й and ё lose their marks before
    {0x0430, "a"},
    {0x0431, "b"},
    {0x0432, "v"},
    {0x0433, "g"},
    {0x0434, "d"},
    {0x0435, "e"},
    {0x0436, "zh"},
    {0x0437, "z"},
    {0x0438, "i"},
    {0x043A, "k"},
    {0x043B, "l"},
    {0x043C, "m"},
    {0x043D, "n"},
    {0x043E, "o"},
    {0x043F, "p"},
    {0x0440, "r"},
    {0x0441, "s"},
    {0x0442, "t"},
    {0x0443, "u"},
    {0x0444, "f"},
    {0x0445, "kh"},
    {0x0446, "ts"},
    {0x0447, "ch"},
    {0x0448, "sh"},
    {0x0449, "shch"},
    {0x044A, ""},
    {0x044B, "y"},
    {0x044C, ""},
    {0x044D, "e"},
    {0x044E, "yu"},
    {0x044F, "ya"},
    {0x0454, "ye"},
    {0x0456, "i"},
    {0x0491, "g"},
});

std::string mapped(std::string_view text, int options) {
  utf8proc_uint8_t* bytes = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (length < 0) return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

// One character for each letter with its marks, in lower case.
std::string plain_letters(std::string_view text) {
  return mapped(text, UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
}

// Takes the first character off the text.
utf8proc_int32_t next_code(std::string_view& text) {
  utf8proc_int32_t code = -1;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  text.remove_prefix(static_cast<std::size_t>(std::max<utf8proc_ssize_t>(length, 1)));
  return code;
}

// Null: the table has no such letter.
const char* spelled(utf8proc_int32_t code) {
  const auto* found = std::lower_bound(
      kSpellings.begin(), kSpellings.end(), code,
      [](const Spelling& spelling, utf8proc_int32_t wanted) { return spelling.code < wanted; });
  return found != kSpellings.end() && found->code == code ? found->ascii : nullptr;
}

bool is_slug_character(utf8proc_int32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= '0' && code <= '9');
}

// The letter without its marks in ASCII; nothing, if it is of another script.
std::optional<std::string> in_ascii(std::string_view letter) {
  const std::string bare = mapped(letter, UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK);
  std::string_view rest = bare;
  if (rest.empty()) return std::nullopt;
  std::string out;
  while (!rest.empty()) {
    const utf8proc_int32_t code = next_code(rest);
    const char* ascii = spelled(code);
    if (!is_slug_character(code) && ascii == nullptr) return std::nullopt;
    out += ascii != nullptr ? std::string(ascii) : std::string(1, static_cast<char>(code));
  }
  return out;
}

bool is_mark(utf8proc_int32_t code) {
  const utf8proc_category_t category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_letter_or_digit(utf8proc_int32_t code) {
  const utf8proc_category_t category = utf8proc_category(code);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

// Words joined by dashes; an apostrophe does not end a word.
std::string words_joined(std::string_view letters) {
  std::string out;
  while (!letters.empty()) {
    const std::string_view from_here = letters;
    const utf8proc_int32_t code = next_code(letters);
    const std::string_view letter = from_here.substr(0, from_here.size() - letters.size());
    if (const auto ascii = in_ascii(letter)) {
      out += *ascii;
    } else if (is_mark(code)) {
      // Of a letter that is written in ASCII it is left out.
      if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0x80) out += letter;
    } else if (is_letter_or_digit(code)) {
      out += letter;
    } else if (code != '\'' && code != 0x2019 && !out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

// At the end of a word, if there is one in the second half.
void shorten(std::string& slug) {
  if (slug.size() <= kMaxSlugBytes) return;
  const bool whole_word = slug[kMaxSlugBytes] == '-';
  std::size_t end = kMaxSlugBytes;
  while ((slug[end] & 0xC0) == 0x80) --end;
  slug.resize(end);
  if (whole_word) return;
  const std::size_t dash = slug.rfind('-');
  if (dash != std::string::npos && dash >= kMaxSlugBytes / 2) slug.resize(dash);
}

}  // namespace

std::string checkpoint_slug(std::string_view title) {
  std::string slug = words_joined(plain_letters(mended_utf8(title.substr(0, 4096))));
  shorten(slug);
  return slug.empty() ? "checkpoint" : slug;
}

}  // namespace skein
