// Checkpoints as JSON for programs, and as text for people and models.
#pragma once

#include <string>
#include <vector>

#include "api/checkpoints.h"

namespace skein {

// One object on one line.
std::string entry_json(const CheckpointEntry& entry);
std::string entries_json(const std::vector<CheckpointEntry>& entries);
// The file's object on one line.
std::string checkpoint_json(const Checkpoint& checkpoint);
// {"checkpoint", "drift", "project", "open_items"}; without "project" the items are of all projects
std::string resumed_json(const Resumed& resumed);

// A line each, under a heading.
std::string entries_text(const std::vector<CheckpointEntry>& entries);
std::string checkpoint_text(const Checkpoint& checkpoint);
std::string resumed_text(const Resumed& resumed);
// The same for a model to read, as quotations.
std::string entries_for_model(const std::vector<CheckpointEntry>& entries);
std::string resumed_for_model(const Resumed& resumed);

// What to put before whoever continues, a person or a model.
std::string handoff_prompt(const Resumed& resumed);

}  // namespace skein
