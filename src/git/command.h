// The git program, run for a folder and without anybody to ask.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/subprocess.h"
#include "skein/error.h"

namespace skein {

// Runs git in `folder` with these arguments, without hooks, monitors, pagers or prompts. GIT_…
// variables of our own environment that name another repository are dropped; `variables` are set
// after that. `input` goes to its standard input.
//
// Git reads the configuration of the repository that `folder` is in. Use this only for commands
// that run no program which a configuration names (rev-parse, config), and for repositories that
// Skein made; use SealedRepository for all others.
Result<Finished> run_git(const std::string& folder, std::vector<std::string> arguments,
                         const std::vector<Spawn::Variable>& variables = {},
                         std::string_view input = {});

// The same for a command that must succeed: its output, or kInvalid with git's message.
Result<std::string> git_output(const std::string& folder, std::vector<std::string> arguments,
                               std::string_view input = {});

// The output of a finished git command, or kInvalid with git's message.
Result<std::string> output_of(Result<Finished> finished, const std::string& command,
                              const std::string& folder);

// The pieces between NULs; the last NUL ends a piece.
std::vector<std::string> split_nul(std::string_view text);

}  // namespace skein
