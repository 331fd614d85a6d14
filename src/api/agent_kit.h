// What the agents of a workspace work with, besides their definitions.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "api/built_in_tools.h"
#include "api/runs.h"
#include "api/settings.h"
#include "runner/agent_tools.h"

namespace skein {

// Tools (MCP servers, work items, recall, the task, other agents), and what a prompt says of the
// task that a thread belongs to. Servers that were started live as long as this. Thread-safe.
class AgentKit {
 public:
  struct Parts {
    AskFunction ask;                  // how ask_agent runs other agents
    RecallFunction recall{};          // absent: recall says that it is not there
    std::function<Tasks&()> tasks{};  // absent: there are no tools for tasks
    std::function<void(std::string_view)> log{};
  };

  // Borrows the store and the agents.
  AgentKit(const Settings& settings, Store& store, const Agents& agents, Parts parts);

  // Borrows this.
  AgentEquipment equipment();

 private:
  std::unique_ptr<ToolBox> tools(const AgentDefinition& agent, const RunScope& scope);
  Result<std::vector<ToolServer>> servers(const AgentDefinition& agent, const RunScope& scope);
  WorkItems& items();

  const Settings settings_;
  Store& store_;
  const Agents& agents_;
  const Parts parts_;
  ToolServers servers_;
  std::once_flag items_made_;
  std::unique_ptr<WorkItems> items_;  // once they are made
};

}  // namespace skein
