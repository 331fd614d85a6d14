// The repositories that a workspace keeps its knowledge in.
#pragma once

#include <string>
#include <vector>

#include "git/repository.h"
#include "skein/checkpoints.h"

namespace skein {

struct KnowledgeRepository {
  std::string name;
  Repository repository;
};

// Those that the options name, then those at knowledge/public/*, knowledge/private/* and
// companies/*/knowledge of the workspace, where a link counts if it leads to a folder of the
// workspace. Each is a repository of its own: a folder of another repository is none. Notices say
// which of the named ones are left out, and why.
std::vector<KnowledgeRepository> knowledge_repositories(const CheckpointsOptions& options);

}  // namespace skein
