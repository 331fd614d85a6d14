// Where the work stands at this moment.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "git/repository.h"
#include "skein/checkpoints.h"

namespace skein {

// The path with "~" for the home folder, as checkpoints write it.
std::string with_tilde(const std::string& path);

// From `base`, where the path is in it ("." for the base itself); otherwise as it is.
std::string path_from(const std::string& base, const std::string& path);

// How a checkpoint names a file: from the root of the repository that one stands in, else from the
// workspace, else absolute.
std::string file_from(const std::optional<Repository>& repository, const std::string& workspace,
                      const std::string& path);

// Paths from the repository's root to what Skein itself keeps in the workspace: never the user's
// changes.
std::vector<std::string> own_files(const Repository& repository, const std::string& workspace);

// Asks git about `wanted.folder`, and fills in "git", "files_touched" and the place. What git
// refuses to tell is told to the notice of the options, and left out.
void capture(Checkpoint& checkpoint, const NewCheckpoint& wanted,
             const CheckpointsOptions& options);

}  // namespace skein
