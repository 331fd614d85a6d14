// Text as BERT sees it: normalised, and cut into words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace skein {

// What the normalizer of a tokenizer.json says.
struct BertNormalizer {
  bool clean_text = true;  // drops what nobody sees; all white space is a space
  bool space_han = true;   // each Han character is a word
  bool lowercase = true;
  bool strip_accents = true;
};

// Calls `take` with each word in order, until it says false: runs without white space and
// punctuation, and each punctuation mark alone. `text` is valid UTF-8.
//
// The words are those of npm's @huggingface/tokenizers. Where it and other implementations differ
// (a Σ that ends a word becomes ς here; Han beyond U+FFFF is not cut apart), it is followed.
void for_each_bert_word(std::string_view text, const BertNormalizer& normalizer,
                        const std::function<bool(std::string_view word)>& take);

}  // namespace skein
