// Which folder is the workspace, and whether it may be.
#pragma once

#include <filesystem>
#include <functional>

#include "skein/error.h"

namespace skein {

// The workspace for whoever stands in `start`, an existing folder:
//   in a git repository   the nearest folder, from `start` up to its root, that has .skein/,
//                         .gitmem/ or workspace/threads/; else the root. A linked worktree stands
//                         for its main checkout.
//   elsewhere             the nearest folder, from `start` up, that has .skein/ and is below $HOME;
//                         else `start`.
// Never above the repository. Never $HOME or a folder above it because of a mark or a repository
// there: kInvalid, if only $HOME is left. kInvalid too when what decides (a mark, or .git) belongs
// to neither this user nor root. Runs no program; of git's files it reads those that say where a
// linked worktree belongs, and believes them only when both sides say so.
struct FoundWorkspace {
  std::filesystem::path folder;
  std::filesystem::path worktree = {};  // the root of the linked worktree; empty: not in one
};
Result<FoundWorkspace> find_workspace(const std::filesystem::path& start);

// Before anything of a workspace is read: kInvalid when its .skein/ belongs to neither this user
// nor root. From then on nothing is written through links in it (core/confined_path.h). `made` is
// called when this process makes .skein/; it may be empty.
Result<void> enter_workspace(const std::filesystem::path& workspace, std::function<void()> made);

}  // namespace skein
