// INDEX.md and recent.md: the checkpoints for people who look into the folder.
#pragma once

#include <string>
#include <vector>

#include "skein/checkpoints.h"

namespace skein {

inline constexpr std::size_t kRecentCheckpoints = 15;

// A table of all, newest first.
std::string index_markdown(const std::vector<CheckpointEntry>& entries);
// The newest in full, with their summaries and next steps.
std::string recent_markdown(const std::vector<Checkpoint>& checkpoints);

}  // namespace skein
