// Text cut into sentences.
#pragma once

#include <string_view>
#include <vector>

namespace skein {

// Without the white space around them and without what marks an entry of a list. A line ends a
// sentence, and so do . ! ? … before white space, and the full stops of Chinese, Japanese and Indic
// scripts anywhere; the dot of a number, an initial or a short abbreviation does not. Code between
// ``` fences is not text, and left out.
std::vector<std::string_view> split_sentences(std::string_view text);

}  // namespace skein
