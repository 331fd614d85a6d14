// What trusting an agent's definition would allow, and whether it is trusted.
#pragma once

#include <string>
#include <vector>

#include "api/settings.h"
#include "api/trust.h"
#include "skein/agents.h"

namespace skein {

// Whether the definition can do more than echo text: other engines and MCP servers need trust.
bool needs_trust(const AgentDefinition& agent);

// The definition itself ("agent:ID"), then every file inside the workspace that it executes
// ("file:PATH"): programs and arguments of MCP servers, the program of the engine, and for
// claude-code the settings from which that program takes hooks and servers. What those files load
// in turn is not covered. `workspace` is canonical.
Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace);

// Whether it is a file from which Claude Code takes hooks and servers. Such files come with a
// folder, so that making an agent trusts none of them.
bool is_claude_settings(const Definition& definition);

// kInvalid names what is not trusted. Reads the files that the agent executes, each time.
// Definitions in a file that was named with --config count as they are.
Result<void> check_agent_trust(const Settings& settings, const AgentDefinition& agent);

}  // namespace skein
