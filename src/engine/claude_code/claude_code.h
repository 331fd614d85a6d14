// Claude Code as an engine: the program `claude`, started for each turn, which resumes its session.
//
// A session that the program no longer has is no error: it is started anew with the conversation so
// far, and the turn has the new session's id.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "skein/engines.h"

namespace skein {

std::shared_ptr<Engine> make_claude_code_engine();
std::vector<FieldProblem> check_claude_code_options(const Json& options, std::string_view path);

}  // namespace skein
