#include "api/agent_kit.h"

#include <algorithm>
#include <utility>

#include "api/agent_trust.h"
#include "api/task_server.h"
#include "api/work/place.h"
#include "skein/tasks.h"

namespace skein {
namespace {

McpOptions options_with(std::function<void(std::string_view)> log) {
  McpOptions options;
  options.log = std::move(log);
  return options;
}

}  // namespace

AgentKit::AgentKit(const Settings& settings, Store& store, const Agents& agents, Parts parts)
    : settings_(settings),
      store_(store),
      agents_(agents),
      parts_(std::move(parts)),
      servers_(options_with(parts_.log)) {}

// The place asks git for its name, which nobody waits for who has no use of it.
WorkItems& AgentKit::items() {
  std::call_once(items_made_, [this] {
    items_ =
        std::make_unique<WorkItems>(store_, work_place(settings_), system_clock(), random_ids());
  });
  return *items_;
}

std::unique_ptr<ToolBox> AgentKit::tools(const AgentDefinition& agent, const RunScope& scope) {
  const AgentCapabilities& capabilities = agent.capabilities;
  if (capabilities.servers.empty() && capabilities.builtin.empty()) return nullptr;
  std::vector<BuiltInTool> built_in;
  for (const std::string& name : capabilities.builtin) {
    if (name == "recall") built_in.push_back(recall_tool(scope, parts_.recall));
    if (name == "ask_agent") {
      const auto can_run = [this](const AgentDefinition& other) {
        return is_runnable(settings_, other);
      };
      built_in.push_back(ask_agent_tool(scope, agents_, can_run, parts_.ask));
    }
    if (name == "tasks" && parts_.tasks) {
      for (BuiltInTool& tool : task_tools(scope, parts_.tasks())) {
        built_in.push_back(std::move(tool));
      }
    }
    if (name == "work_items") {
      for (BuiltInTool& tool : work_item_tools(scope, items())) {
        built_in.push_back(std::move(tool));
      }
    }
  }
  return make_tool_box(agent, std::move(built_in), servers_, parts_.log);
}

// An engine with a loop of its own reaches the task of its run by a server, and nothing else.
Result<std::vector<ToolServer>> AgentKit::servers(const AgentDefinition& agent,
                                                  const RunScope& scope) {
  std::vector<ToolServer> servers;
  const bool is_named =
      std::any_of(agent.capabilities.servers.begin(), agent.capabilities.servers.end(),
                  [](const ToolServer& server) { return server.name == kTaskServerName; });
  if (!scope.task_id || !parts_.tasks || is_named) return servers;
  auto server = task_server(settings_, scope);
  if (!server) return servers;
  const auto info = parts_.tasks().show(*scope.task_id);
  if (!info && info.error().code != ErrorCode::kNotFound) return tl::unexpected(info.error());
  // A thread that only names the task is not the one that it is worked on in.
  if (!info || info->task.thread != scope.thread || !info->problem.empty()) return servers;
  servers.push_back(std::move(*server));
  return servers;
}

AgentEquipment AgentKit::equipment() {
  return {.tools = [this](const AgentDefinition& agent, const RunScope& scope)
              -> Result<std::unique_ptr<ToolBox>> { return tools(agent, scope); },
          .servers = [this](const AgentDefinition& agent,
                            const RunScope& scope) { return servers(agent, scope); },
          .context = [this](const RunScope& scope) -> Result<std::string> {
            if (!scope.task_id) return std::string();
            return task_context(store_, *scope.task_id, settings_.signer.get());
          }};
}

}  // namespace skein
