// Summaries of threads, as the frontends offer them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/runs.h"
#include "skein/engine_summary.h"
#include "skein/summary.h"

namespace skein {

struct SummaryWish {
  SummarizeRequest request{};
  bool extract = false;  // from the text itself, whatever the agent has
  std::stop_token stop{};
  std::function<void(const SummaryProgress&)> progress{};
};

struct MadeSummary {
  std::optional<Summary> summary;  // nothing: there was nothing to do
  // Why the agent's engine did not make it; empty: it did, it has none, or it was not to.
  std::string note;
};

// By the engine of the thread's agent, with that agent's own endpoint, key and program, if the
// agent is trusted; else from the text itself. An agent that echoes has no engine for this.
Result<MadeSummary> make_summary(Store& store, WorkspaceAgents& agents, const Manifest& thread,
                                 SummaryWish wish);

// Whether the agent has an engine that writes summaries, trusted or not.
bool has_summary_engine(const Agents& agents, std::string_view agent_id);

// The agents of a workspace, trusted as their user said, without tools: for such calls.
std::unique_ptr<WorkspaceAgents> agents_without_tools(const Settings& settings);

// {"seq":…,"covers":[…],"text":…,"tokens":…,"by":"engine" or "extraction","model":…,"note":…}
std::string to_json(const MadeSummary& made);

}  // namespace skein
