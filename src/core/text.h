// Text as people compare it, in any script.
#pragma once

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

// Whether there is a control character in it, other than line feed and tab.
bool has_control_characters(std::string_view text);

}  // namespace skein
