// Summaries of threads, as the frontends offer them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/runs.h"
#include "skein/engine_summary.h"
#include "skein/summary.h"

namespace skein {

// By the engine of the thread's agent, with that agent's own endpoint, key and program, if the
// agent is trusted; else from the text itself. An agent that echoes has no engine for this.
Result<SummaryOutcome> make_summary(Store& store, WorkspaceAgents& agents, const Manifest& thread,
                                    SummaryOptions wish);

// Whether the agent has an engine that writes summaries, trusted or not.
bool has_summary_engine(const Agents& agents, std::string_view agent_id);

// The agents of a workspace, trusted as their user said, without tools: for such calls.
std::unique_ptr<WorkspaceAgents> agents_without_tools(const Settings& settings);

// {"seq":…,"covers":[…],"text":…,"tokens":…,"by":"engine" or "extraction","model":…,"note":…}
std::string to_json(const SummaryOutcome& made);

}  // namespace skein
