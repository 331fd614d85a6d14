// The repositories that a workspace keeps its knowledge in.
#pragma once

#include <vector>

#include "skein/checkpoints.h"

namespace skein {

// The states of those that the options name, then of those at knowledge/public/*,
// knowledge/private/* and companies/*/knowledge of the workspace, where a link counts if it leads
// to a folder of the workspace. Each is a repository of its own: a folder of another repository is
// none. All of them share a time limit. Notices say which are left out, and why.
std::vector<CheckpointGit::Knowledge> knowledge_states(const CheckpointsOptions& options);

}  // namespace skein
