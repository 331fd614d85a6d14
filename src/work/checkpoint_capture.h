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

// The folder that the checkpoint was made in, as far as this workspace has it.
std::string checkpoint_folder(const Checkpoint& checkpoint, const std::string& workspace);

// The repository of that folder; nothing: it is in none. kInvalid: the folder is neither in the
// workspace nor in another work tree of its repository. kNotFound: there is no such folder.
Result<std::optional<Repository>> checkpoint_repository(const Checkpoint& checkpoint,
                                                        const std::string& workspace);

// Asks git about `wanted.folder`, and fills in "git", "files_touched" and the place. What git
// refuses to tell is told to the notice of the options, and left out.
void capture(Checkpoint& checkpoint, const NewCheckpoint& wanted,
             const CheckpointsOptions& options);

// Asks git about the checkpoint's folder, for an update: what was committed since it was made is
// added to "commits_made", touched files to "files_touched", `files` too. Where git tells nothing,
// "git" stays as it was, and the notice says why.
void capture_again(Checkpoint& checkpoint, const std::vector<std::string>& files,
                   const CheckpointsOptions& options);

}  // namespace skein
