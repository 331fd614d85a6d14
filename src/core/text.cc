#include "core/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace skein {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

void lower_ascii(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
}

std::string casefolded(std::string_view text) {
  std::string folded(text);
  if (!is_ascii(text)) {
    constexpr auto kOptions = static_cast<utf8proc_option_t>(
        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    utf8proc_uint8_t* mapped = nullptr;
    const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                     static_cast<utf8proc_ssize_t>(text.size()), &mapped, kOptions);
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
    if (length >= 0) {
      folded.assign(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length));
      return folded;
    }
  }
  lower_ascii(folded);
  return folded;
}

struct Character {
  utf8proc_int32_t code = 0;
  std::string_view bytes;
};

// Takes the first character off the text; a byte that is not UTF-8 has the code -1.
Character take_character(std::string_view& text) {
  Character character;
  auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &character.code);
  if (length < 1) {
    length = 1;
    character.code = -1;
  }
  character.bytes = text.substr(0, static_cast<std::size_t>(length));
  text.remove_prefix(character.bytes.size());
  return character;
}

bool is_space(utf8proc_int32_t code) {
  if (code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85) return true;
  const auto category = code < 0x80 ? UTF8PROC_CATEGORY_CN : utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_word_character(utf8proc_int32_t code) {
  if (code < 0) return false;
  const auto category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

bool is_written_without_spaces(utf8proc_int32_t code) {
  struct Range {
    utf8proc_int32_t first, last;
  };
  constexpr Range kRanges[] = {
      {0x0E00, 0x0EFF},    // Thai, Lao
      {0x1000, 0x109F},    // Myanmar
      {0x1780, 0x17FF},    // Khmer
      {0x3040, 0x30FF},    // Hiragana, Katakana
      {0x3400, 0x4DBF},    // Han
      {0x4E00, 0x9FFF},    //
      {0xF900, 0xFAFF},    //
      {0x20000, 0x3FFFF},  //
  };
  return std::any_of(std::begin(kRanges), std::end(kRanges), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

void add_pairs(const std::vector<std::string_view>& characters, std::vector<std::string>& words) {
  if (characters.size() == 1) words.emplace_back(characters[0]);
  for (std::size_t i = 1; i < characters.size(); ++i) {
    words.push_back(std::string(characters[i - 1]).append(characters[i]));
  }
}

}  // namespace

std::string fold_text(std::string_view text) {
  const std::string folded = casefolded(text);
  std::string out;
  out.reserve(folded.size());
  bool space = false;
  for (std::string_view rest = folded; !rest.empty();) {
    const Character character = take_character(rest);
    if (is_space(character.code)) {
      space = !out.empty();
      continue;
    }
    if (space) out += ' ';
    space = false;
    out += character.bytes;
  }
  return out;
}

std::vector<std::string> words_of(std::string_view folded) {
  std::vector<std::string> words;
  std::string word;
  std::vector<std::string_view> unspaced;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
    add_pairs(unspaced, words);
    unspaced.clear();
  };
  while (!folded.empty()) {
    const Character character = take_character(folded);
    const bool is_unspaced = is_written_without_spaces(character.code);
    if (!is_word_character(character.code) || is_unspaced == !word.empty()) end_word();
    if (!is_word_character(character.code)) continue;
    if (is_unspaced) {
      unspaced.push_back(character.bytes);
    } else {
      word += character.bytes;
    }
  }
  end_word();
  return words;
}

std::string_view beginning(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (text[bytes] & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

bool is_hex(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool has_control_characters(std::string_view text) {
  while (!text.empty()) {
    const Character character = take_character(text);
    if (character.code == '\n' || character.code == '\t') continue;
    if (character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0)) return true;
  }
  return false;
}

}  // namespace skein
