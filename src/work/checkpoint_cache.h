// What lists and searches need of every checkpoint, kept so that files are read once.
#pragma once

#include <string>
#include <vector>

#include "skein/checkpoints.h"
#include "work/checkpoint_folder.h"

namespace skein {

struct IndexedCheckpoint {
  CheckpointFolder::File file;
  CheckpointEntry entry;
  std::string words;    // folded, each after a space: " mrr report"
  std::string problem;  // why the file is no checkpoint; then the rest means nothing
};

// All checkpoints of the folder, newest first, and what only looks like one. Reads the files that
// the cache does not know as they are now, and keeps what it learned; a cache that cannot be read
// or written costs time and nothing else.
Result<std::vector<IndexedCheckpoint>> index_checkpoints(CheckpointFolder& folder);

// " a b" for text in any script; what a search for its words looks into.
std::string searchable(std::string_view text);

// The cache's bytes; empty when they are not what encode_cache gave.
std::string encode_cache(const std::vector<IndexedCheckpoint>& indexed);
std::vector<IndexedCheckpoint> decode_cache(std::string_view bytes);

}  // namespace skein
