// The submodules of a work tree.
#pragma once

#include <string>
#include <vector>

#include "git/sealed_repository.h"
#include "skein/error.h"

namespace skein {

// Paths from the root of the work tree that .gitmodules names and that are submodules in the index;
// at most 64. Reads neither the configuration of the submodules nor follows links.
Result<std::vector<std::string>> submodules(const SealedRepository& repository);

}  // namespace skein
