#include "core/visible.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace skein {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// C1 controls, format characters, characters that are shown as nothing, and line ends other than
// a line feed; in order.
constexpr std::array<Range, 27> kHidden = {{
    {0x80, 0x9F},        // C1 controls
    {0xAD, 0xAD},        // soft hyphen
    {0x34F, 0x34F},      // combining grapheme joiner
    {0x600, 0x605},      // Arabic number signs
    {0x61C, 0x61C},      // Arabic letter mark
    {0x6DD, 0x6DD},      // Arabic end of ayah
    {0x70F, 0x70F},      // Syriac abbreviation mark
    {0x890, 0x891},      // Arabic pound and piastre marks
    {0x8E2, 0x8E2},      // Arabic disputed end of ayah
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // Khmer inherent vowels
    {0x180B, 0x180F},    // Mongolian variation selectors and vowel separator
    {0x200B, 0x200F},    // zero width, marks of direction
    {0x2028, 0x202E},    // line ends, embeddings and overrides of direction
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // half-width Hangul filler
    {0xFFF0, 0xFFFB},    // interlinear annotation
    {0x110BD, 0x110BD},  // Kaithi number sign
    {0x110CD, 0x110CD},  // Kaithi number sign above
    {0x13430, 0x1343F},  // joiners of Egyptian hieroglyphs
    {0x16FE4, 0x16FE4},  // Khitan filler
    {0x1BCA0, 0x1BCA3},  // controls of shorthand
    {0x1D173, 0x1D17A},  // controls of musical notation
    {0xE0000, 0xE0FFF},  // tags, further variation selectors
}};

bool hides(char32_t code) {
  const auto* const found =
      std::lower_bound(kHidden.begin(), kHidden.end(), code,
                       [](const Range& range, char32_t wanted) { return range.last < wanted; });
  return found != kHidden.end() && code >= found->first;
}

// Signs that a variation selector makes an emoji of, or a plain sign.
bool is_symbol(char32_t code) {
  return (code >= 0x2190 && code <= 0x2BFF) || (code >= 0x1F000 && code <= 0x1FAFF);
}

struct Character {
  char32_t code = 0;  // of bytes that are not UTF-8: 0
  std::size_t length = 1;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 1) return {first < 0x80 ? first : 0, 1};
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  return {code, length};
}

std::string escape_hidden(std::string_view text, bool one_line) {
  std::string out;
  out.reserve(text.size());
  char32_t before = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const char32_t code = character.code;
    const bool of_emoji = (code == 0xFE0E || code == 0xFE0F) && is_symbol(before);
    if (const char c = text[at]; one_line && (c == '\n' || c == '\t')) {
      out += c == '\n' ? "\\n" : "\\t";
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (hides(code) && !of_emoji) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      out += text.substr(at, character.length);
    }
    before = code;
    at += character.length;
  }
  return out;
}

}  // namespace

std::string visible_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const auto code = static_cast<unsigned>(character.code);
    if (code == 0x7F || (hides(character.code) && code <= 0xFFFF)) {
      out += fmt::format("\\u{:04x}", code);
    } else if (hides(character.code)) {
      const unsigned above = code - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
    } else {
      out += text.substr(at, character.length);
    }
    at += character.length;
  }
  return out;
}

std::string visible(std::string_view text) { return escape_hidden(text, false); }
std::string visible_line(std::string_view text) { return escape_hidden(text, true); }

}  // namespace skein
