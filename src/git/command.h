// Git, run so that nothing in a repository gets executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/subprocess.h"
#include "skein/error.h"

namespace skein {

// Runs git in `folder` with these arguments. No hooks, monitors, pagers, filters, aliases, helpers
// or prompts of the repository run, its locks are left alone, and the GIT_… variables that a hook
// of git's own would pass on do not count: what matters is the folder. `settings` are further
// "name=value" for git's -c; `input` goes to its standard input.
Result<Finished> run_git(const std::string& folder, std::vector<std::string> arguments,
                         const std::vector<std::string>& settings = {},
                         std::string_view input = {});

// The same for a command that must succeed: its output, or kInvalid in git's words.
Result<std::string> git_output(const std::string& folder, std::vector<std::string> arguments,
                               const std::vector<std::string>& settings = {},
                               std::string_view input = {});

// The pieces between NULs; the last NUL ends a piece.
std::vector<std::string> split_nul(std::string_view text);

}  // namespace skein
