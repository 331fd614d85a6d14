// What a tool server that Skein starts gets to know of Skein's environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/subprocess.h"

namespace skein {

// The changes to our own environment for a server: it gets PATH, HOME, USER, LOGNAME, SHELL, TERM,
// TMPDIR, TZ, LANG and LC_…, and the variables that its definition names, with their values
// resolved. Everything else, such as keys of providers, it does not get.
std::vector<Spawn::Variable> server_environment(
    const std::vector<std::pair<std::string, std::string>>& named);

}  // namespace skein
