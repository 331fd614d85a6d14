// One search, from the words of a question to what is shown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recall/index/corpus_cache.h"
#include "recall/index/index_file.h"
#include "recall/rank/ranking.h"
#include "skein/recall.h"

namespace skein {

// Kept as long as the Recall; thread-safe.
class Searcher {
 public:
  Searcher(Store& store, IndexFile& file, Embedder* embedder, Clock& clock);

  Result<SearchAnswer> search(std::string_view query, const SearchOptions& options);

 private:
  class Search;

  Store& store_;
  IndexFile& file_;
  Embedder* const embedder_;
  Clock& clock_;
  CorpusCache cache_;
};

// The rules of a search that need no store to be checked.
Result<void> check_search(std::string_view query, const SearchOptions& options);

}  // namespace skein
