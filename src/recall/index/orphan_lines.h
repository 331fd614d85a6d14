// Lines of <agent>/embeddings.jsonl whose thread is gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recall/index/index_file.h"
#include "skein/store.h"

namespace skein {

// Removes them from the files of all agents, or of one. `folder` is RecallOptions::vectors_folder.
// Answers how many of the removed lines other programs wrote: our own are counted as entries of the
// index. Lines that name no thread stay.
Result<std::uint64_t> remove_orphan_lines(Store& store, IndexFile& file, const std::string& folder,
                                          const std::optional<std::string>& agent);

}  // namespace skein
