// Corpora that were loaded from the index, kept up to date.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "recall/index/index_file.h"
#include "recall/index/names.h"
#include "recall/rank/corpus.h"
#include "recall/rank/question.h"

namespace skein {

struct LoadedCorpus {
  AgentNames agents;

  // Shared to read, alone to change:
  std::shared_mutex mutex;
  Corpus corpus;
  std::vector<Speaker> speakers;
  std::int64_t generation = -1;  // -1: nothing was loaded
  std::int64_t model = 0;        // whose vectors; 0: none
};

// Thread-safe.
class CorpusCache {
 public:
  struct Model {
    std::string name;  // empty: none
    std::size_t dimensions = 0;
  };
  explicit CorpusCache(Model model) : model_(std::move(model)) {}

  // As the index is at the moment of the reading.
  Result<std::shared_ptr<LoadedCorpus>> get(IndexReading& reading, const AgentNames& agents);

 private:
  std::shared_ptr<LoadedCorpus> find(const AgentNames& agents);
  void make_room(const LoadedCorpus& wanted);
  Result<void> refresh(IndexReading& reading, LoadedCorpus& loaded) const;

  const Model model_;
  std::mutex mutex_;
  std::list<std::shared_ptr<LoadedCorpus>> corpora_;  // under mutex_; last used first
};

}  // namespace skein
