#include "work/checkpoint_search.h"

#include <algorithm>

#include "core/text.h"

namespace skein {

CheckpointMatcher::CheckpointMatcher(const CheckpointQuery& query)
    : query_(query), worker_(fold_text(query.worker)) {
  for (const std::string& word : words_of(fold_text(query.words))) words_.push_back(" " + word);
  unanswerable_ = words_.empty() && !fold_text(query.words).empty();
  for (const std::string& tag : query.tags) tags_.push_back(fold_text(tag));
}

bool CheckpointMatcher::operator()(const IndexedCheckpoint& checkpoint) const {
  if (unanswerable_ || !checkpoint.problem.empty()) return false;
  const CheckpointEntry& entry = checkpoint.entry;
  if (query_.since && entry.created_at < *query_.since) return false;
  if (query_.until && entry.created_at > *query_.until) return false;
  if (!query_.types.empty() &&
      std::find(query_.types.begin(), query_.types.end(), entry.type) == query_.types.end()) {
    return false;
  }
  if (!worker_.empty()) {
    const std::string worker = fold_text(entry.worker);
    const std::size_t slash = worker.find('/');
    const bool named = worker == worker_ || worker.substr(0, slash) == worker_ ||
                       (slash != std::string::npos && worker.substr(slash + 1) == worker_);
    if (!named) return false;
  }
  const auto has_tag = [&entry](const std::string& wanted) {
    return std::any_of(entry.tags.begin(), entry.tags.end(),
                       [&wanted](const std::string& tag) { return fold_text(tag) == wanted; });
  };
  const auto has_word = [&checkpoint](const std::string& word) {
    return checkpoint.words.find(word) != std::string::npos;
  };
  return std::all_of(tags_.begin(), tags_.end(), has_tag) &&
         std::all_of(words_.begin(), words_.end(), has_word);
}

}  // namespace skein
