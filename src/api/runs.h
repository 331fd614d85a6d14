// Everything that runs need in a workspace, wired together.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/settings.h"
#include "skein/agents.h"
#include "skein/engines.h"
#include "skein/runner.h"

namespace skein {

// What an agent of a run has besides its definition. Each may be left out.
struct AgentEquipment {
  // The box of tools of one run; nothing: it has none.
  std::function<Result<std::unique_ptr<ToolBox>>(const AgentDefinition& agent,
                                                 const RunScope& scope)>
      tools{};
  // Servers of tools besides those of the definition, for an engine with a loop of its own.
  std::function<Result<std::vector<ToolServer>>(const AgentDefinition& agent,
                                                const RunScope& scope)>
      servers{};
  // What goes behind the system prompt, such as the task that the thread belongs to.
  std::function<Result<std::string>(const RunScope& scope)> context{};
  // kInvalid: the definition is not trusted (api/agent_trust.h). Asked before each run.
  std::function<Result<void>(const AgentDefinition& agent)> check_trust{};
  std::function<void(std::string_view)> log{};
};

// The agents of a workspace as a runner wants them. Thread-safe.
class WorkspaceAgents final : public AgentSource {
 public:
  explicit WorkspaceAgents(Agents agents) : agents_(std::move(agents)) {}

  // Before the first run.
  void equip(AgentEquipment equipment) { equipment_ = std::move(equipment); }
  const Agents& agents() const { return agents_; }

  Result<void> check(std::string_view agent_id) override;
  Result<PreparedAgent> prepare(const RunScope& scope) override;

 private:
  Result<std::shared_ptr<Engine>> engine(const std::string& name);
  // Without trust, an agent that echoes goes without its MCP servers, and any other not at all.
  Result<AgentDefinition> trusted(AgentDefinition agent);

  const Agents agents_;
  AgentEquipment equipment_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Engine>> engines_;  // under mutex_
};

class AgentKit;
class IndexEffect;
class LazyRecall;
class Tasks;

// A runner for the agents of a workspace, with their tools. Borrows the store.
class RunDesk {
 public:
  // `indexed_on_arrival`: somebody else keeps the index up to date.
  RunDesk(const Settings& settings, Store& store, RunnerOptions options = {},
          bool indexed_on_arrival = false);
  ~RunDesk();

  Runner& runner() { return *runner_; }
  WorkspaceAgents& agents() { return agents_; }
  LazyRecall& recall() { return *recall_; }

 private:
  WorkspaceAgents agents_;
  std::unique_ptr<LazyRecall> recall_;
  std::unique_ptr<IndexEffect> index_effect_;
  std::unique_ptr<AgentKit> kit_;
  std::unique_ptr<Tasks> tasks_;    // for the tools of agents
  std::unique_ptr<Runner> runner_;  // the first to go
};

// {"runId":…,"threadId":…,"status":…,"response":…,"run":{…}} on one line.
std::string outcome_json(const Run& run, std::string_view response);

}  // namespace skein
