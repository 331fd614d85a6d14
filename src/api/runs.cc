#include "api/runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/agent_kit.h"
#include "api/agent_trust.h"
#include "api/agents.h"
#include "api/recall.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/tasks.h"

namespace skein {

Result<std::shared_ptr<Engine>> WorkspaceAgents::engine(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = engines_.find(name); found != engines_.end()) return found->second;
  SKEIN_ASSIGN(auto made, make_engine(name));
  engines_.emplace(name, made);
  return made;
}

Result<AgentDefinition> WorkspaceAgents::trusted(AgentDefinition agent) {
  if (!equipment_.check_trust) return agent;
  auto checked = equipment_.check_trust(agent);
  if (checked) return agent;
  if (agent.engine != "echo") return tl::unexpected(std::move(checked).error());
  if (equipment_.log) {
    equipment_.log("without MCP servers and ask_agent: " + checked.error().message);
  }
  agent.capabilities.servers.clear();
  std::erase(agent.capabilities.builtin, "ask_agent");
  return agent;
}

Result<void> WorkspaceAgents::check(std::string_view agent_id) {
  const auto found = agents_.all().find(agent_id);
  if (found == agents_.all().end()) {
    SKEIN_TRY(agents_.get(agent_id));
    return {};
  }
  if (found->second.engine == "echo" || !equipment_.check_trust) return {};
  return equipment_.check_trust(found->second);
}

Result<PreparedAgent> WorkspaceAgents::prepare(const RunScope& scope) {
  SKEIN_ASSIGN(AgentDefinition agent, agents_.get(scope.agent_id));
  SKEIN_ASSIGN(agent, trusted(std::move(agent)));
  PreparedAgent prepared;
  SKEIN_ASSIGN(prepared.engine, engine(agent.engine));
  if (prepared.engine->is_agent()) {
    for (const ToolServer& server : agent.capabilities.servers) {
      SKEIN_ASSIGN(ToolServer resolved, resolve_server(server));
      prepared.servers.push_back(std::move(resolved));
    }
    if (equipment_.servers) {
      SKEIN_ASSIGN(auto more, equipment_.servers(agent, scope));
      std::move(more.begin(), more.end(), std::back_inserter(prepared.servers));
    }
  } else if (equipment_.tools) {
    SKEIN_ASSIGN(prepared.tools, equipment_.tools(agent, scope));
  }
  prepared.model = std::move(agent.model);
  prepared.fast_model = std::move(agent.title_model);
  prepared.system = std::move(agent.system);
  if (equipment_.context) {
    SKEIN_ASSIGN(const std::string more, equipment_.context(scope));
    if (!more.empty()) prepared.system += (prepared.system.empty() ? "" : "\n\n") + more;
  }
  prepared.limits = agent.limits;
  prepared.context = agent.context;
  prepared.options = std::move(agent.options);
  prepared.folder = std::move(agent.folder);
  return prepared;
}

RunDesk::RunDesk(const Settings& settings, Store& store, RunnerOptions options,
                 bool indexed_on_arrival)
    : agents_(workspace_agents(settings)),
      recall_(std::make_unique<LazyRecall>(settings, store)),
      index_effect_(std::make_unique<IndexEffect>(*recall_, indexed_on_arrival)) {
  AgentKit::Parts parts;
  parts.recall = recall_function(*recall_);
  options.effects.push_back(index_effect_.get());
  parts.ask = [this](const RunRequest& request, std::stop_token stop) {
    return runner_->execute(request, {}, std::move(stop));
  };
  parts.tasks = [this]() -> Tasks& { return *tasks_; };
  parts.log = options.log;
  Clock& clock = options.clock != nullptr ? *options.clock : system_clock();
  options.signer = settings.signer;
  kit_ = std::make_unique<AgentKit>(settings, store, agents_.agents(), std::move(parts));
  AgentEquipment equipment = kit_->equipment();
  equipment.check_trust = [settings](const AgentDefinition& agent) {
    return check_agent_trust(settings, agent);
  };
  equipment.log = options.log;
  agents_.equip(std::move(equipment));
  runner_ = std::make_unique<Runner>(store, agents_, std::move(options));
  tasks_ = std::make_unique<Tasks>(store, *runner_, agents_, clock, random_ids(), settings.signer);
}

RunDesk::~RunDesk() = default;

std::string outcome_json(const Run& run, std::string_view response) {
  return JsonObject()
      .add("runId", run.id)
      .add("threadId", run.thread.str())
      .add("status", to_string(run.status))
      .add("response", response)
      .add_json("run", to_json(run))
      .str();
}

}  // namespace skein
