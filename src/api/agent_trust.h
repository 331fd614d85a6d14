// What trusting an agent's definition would allow, and whether it is trusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/executed_files.h"
#include "api/file_change.h"
#include "api/settings.h"
#include "api/trust.h"
#include "skein/agents.h"

namespace skein {

// Whether the definition can do more than echo text: other engines, MCP servers, and asking other
// agents need trust.
bool needs_trust(const AgentDefinition& agent);

// The definition itself ("agent:ID"), then every file inside the workspace that it executes
// ("file:PATH", see api/executed_files.h), and for claude-code the settings from which that program
// takes hooks and servers. What those files load in turn is not covered. `workspace` is canonical.
// kInvalid: the files cannot all be found; such an agent cannot be trusted.
Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace,
                                                  ReadingBudget& budget);
// Of one agent alone.
Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace);

// Applies a change that the user agreed to. A file of the workspace from which Claude Code takes
// hooks and servers stays trusted if it was trusted, or was not there: nothing in it can have come
// with the folder then. Answers a notice where the change was made and the trust could not be
// recorded.
Result<std::optional<std::string>> apply_trusted_change(const Settings& settings,
                                                        const FileChange& change);

// kInvalid names what is not trusted. Reads the files that the agent executes, each time, unless
// the definition itself is not trusted; and the definition: one that was changed on disk since, as
// by a git pull, makes the agent inactive.
// Definitions in a file that was named with --config count as they are.
Result<void> check_agent_trust(const Settings& settings, const AgentDefinition& agent);

// Whether a run of the agent would begin: it is trusted, or its engine is `echo`, which runs
// without the servers that are not trusted. Reads no files for a definition that is not trusted
// itself.
bool is_runnable(const Settings& settings, const AgentDefinition& agent);

}  // namespace skein
