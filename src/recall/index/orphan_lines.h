// Lines of <agent>/embeddings.jsonl whose thread is gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "recall/index/index_file.h"
#include "skein/store.h"

namespace skein {

// Which lines are looked at: those of all agents and threads, if nothing is given.
struct OrphanScope {
  std::optional<std::string> agent{};
  // Only lines of these threads. Other lines are not parsed, which makes removing a thread cheap.
  std::optional<std::unordered_set<ThreadId>> threads{};
};

// Removes the lines of threads that the store does not have. `folder` is
// RecallOptions::vectors_folder. Answers how many of the removed lines other programs wrote: our
// own are counted as entries of the index. Lines that name no thread stay.
Result<std::uint64_t> remove_orphan_lines(Store& store, IndexFile& file, const std::string& folder,
                                          const OrphanScope& scope);

}  // namespace skein
