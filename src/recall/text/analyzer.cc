#include "recall/text/analyzer.h"

#include "core/text.h"

namespace skein {

bool ends_with_question_mark(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n\"')");
  if (last == std::string_view::npos) return false;
  text = text.substr(0, last + 1);
  return text.ends_with('?') || text.ends_with("？") || text.ends_with("؟");
}

Analysed Analyzer::analyse(std::string_view text, Language usual, const TermSink& sink) {
  Analysed result;
  result.asks = ends_with_question_mark(text);
  const std::span<const Word> words = splitter_.split(beginning(text, kMaxAnalysedBytes));
  folded_.clear();
  for (const Word& word : words) {
    if (word.kind == WordKind::kWord) folded_.push_back(word.text);
  }
  result.language = detect_language(folded_);
  if (result.language == Language::kUnknown) result.language = usual;
  for (const Word& word : words) {
    // Characters come in pairs that overlap: a pair more is about half a word more.
    if (word.kind == WordKind::kWord || word.kind == WordKind::kGram) ++result.words;
    sink(word.kind == WordKind::kWord ? stemmer_.stem(word.text, result.language) : word.text);
  }
  return result;
}

}  // namespace skein
