// Programs of others that run on node.
#pragma once

#include <string>
#include <vector>

#include "core/subprocess.h"

namespace skein::test {

// Runs a script with its arguments in `folder`. A server of ours that it starts loads no model.
Finished run_node(const std::vector<std::string>& words, const std::string& folder);

}  // namespace skein::test
