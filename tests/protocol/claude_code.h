// The real Claude Code, run without a network.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/subprocess.h"

namespace skein::test {

// The path of the program, which tools/setup installs.
std::string claude_program();

// Runs it with one prompt in `folder`, with a home of its own, on an imitation of its API, and
// answers what it printed. It may run commands without asking.
Finished run_claude(const std::filesystem::path& folder, const std::filesystem::path& home,
                    const std::string& api_url, const std::string& prompt,
                    const std::vector<std::string>& more = {});

}  // namespace skein::test
