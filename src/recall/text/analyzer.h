// What a message is found by.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "recall/text/language.h"
#include "recall/text/stemmer.h"
#include "recall/text/words.h"

namespace skein {

// Of a longer message only the beginning is looked at.
inline constexpr std::size_t kMaxAnalysedBytes = std::size_t{64} << 10;

struct Analysed {
  Language language = Language::kUnknown;
  std::uint32_t words = 0;
  bool asks = false;  // it ends with a question mark
};

using TermSink = std::function<void(std::string_view term)>;

// Not thread-safe; reuse one for speed.
class Analyzer {
 public:
  // Tells every term of the text, as often as it occurs. `usual`: the language, if the text is too
  // short to tell.
  Analysed analyse(std::string_view text, Language usual, const TermSink& sink);

  Stemmer& stemmer() { return stemmer_; }
  WordSplitter& splitter() { return splitter_; }

 private:
  WordSplitter splitter_;
  Stemmer stemmer_;
  std::vector<std::string_view> folded_;
};

bool ends_with_question_mark(std::string_view text);

}  // namespace skein
