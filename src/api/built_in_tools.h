// Tools that agents have without any server: recall, work items, their task, and other agents.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runner/agent_tools.h"
#include "skein/agents.h"
#include "skein/runner.h"
#include "skein/tasks.h"
#include "skein/work_items.h"

namespace skein {

// What a model wants to find again.
struct RecallAsked {
  std::string agent_id;  // whose threads are searched
  std::string query;
  std::size_t limit = 5;
};
// The answer as text for a model, with what was found marked as quoted.
using RecallFunction = std::function<Result<std::string>(const RecallAsked&, std::stop_token)>;

// Whether a run of the agent would begin. Agents that are not trusted are not listed.
using CanRun = std::function<bool(const AgentDefinition&)>;
// Runs another agent to its end.
using AskFunction = std::function<Result<RunOutcome>(const RunRequest&, std::stop_token)>;

// Each tool belongs to one run, and what it does carries the run's links.
BuiltInTool recall_tool(const RunScope& scope, RecallFunction recall);

// list_work_items, create_work_item, resolve_work_item. Borrows `items`.
std::vector<BuiltInTool> work_item_tools(const RunScope& scope, WorkItems& items);

// get_task, update_task_steps and complete_task, of the task that the run's thread belongs to; none
// where it belongs to no task. Borrows `tasks`.
std::vector<BuiltInTool> task_tools(const RunScope& scope, Tasks& tasks);

// Asks in a new thread of the other agent. Agents that are already asking are refused by the
// runner, which gets the chain of them. The tool's description names the agents that `can_run`, and
// quotes what they say of themselves.
BuiltInTool ask_agent_tool(const RunScope& scope, const Agents& agents, const CanRun& can_run,
                           AskFunction ask);

}  // namespace skein
