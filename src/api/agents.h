// The agents of a workspace, and what programs and people are shown of them.
#pragma once

#include <string>

#include "api/settings.h"
#include "skein/agents.h"

namespace skein {

// As they are on disk now.
Agents workspace_agents(const Settings& settings);
// One of them as it is on disk by now, read again. kNotFound, kInvalid: it is gone, or wrong.
Result<AgentDefinition> agent_on_disk(const Settings& settings, const AgentDefinition& agent);

// The definition with everything that it stands for, on one line. Variables stay ${NAME}.
std::string agent_json(const AgentDefinition& agent);
// The same for people.
std::string agent_text(const AgentDefinition& agent);

// {"agent", "file", "field", "reason"}
std::string agent_problem_json(const AgentProblem& problem);

}  // namespace skein
