// Which checkpoints a part of an id means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "work/checkpoint_cache.h"

namespace skein {

struct CheckpointCandidates {
  // Those that fit best, newest first: the one with that id; else those with that slug; else those
  // with the part in their id. Of the latter two, automatic ones only where there are no others.
  std::vector<const IndexedCheckpoint*> best;
  bool exact = false;  // they have that id or slug
};

// Case does not count. Those of the older folder are known by their title, too. Borrows `all`.
CheckpointCandidates find_candidates(const std::vector<IndexedCheckpoint>& all,
                                     std::string_view part);

// "3 checkpoints have "login" in their ids: A, B, C"; at most ten of them.
std::string candidates_text(const std::vector<const IndexedCheckpoint*>& candidates,
                            std::string_view part);

}  // namespace skein
