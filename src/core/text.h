// Text in any script: as people compare it, and what it consists of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skein {

// The same for texts that differ only in case, in how their characters are composed, in white
// space, or in characters that nobody sees: Unicode NFKC with case folding, each run of white space
// one space, none around it. Empty for blank text. Bytes that are not UTF-8 stay as they are.
std::string fold_text(std::string_view text);

// The words of folded text, in order. Scripts that are written without spaces between words (Han,
// kana, Thai …) give each pair of neighbouring characters.
std::vector<std::string> words_of(std::string_view folded);

// The first bytes of UTF-8, at most so many, cut between characters.
std::string_view beginning(std::string_view text, std::size_t bytes);

// Whether it consists of hexadecimal digits, at least one.
bool is_hex(std::string_view text);

// How many characters (code points) UTF-8 has.
std::size_t count_characters(std::string_view utf8);

// Whether there is a control character in it, other than line feed and tab.
bool has_control_characters(std::string_view text);

}  // namespace skein
