#include "api/summaries.h"

#include <utility>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "api/threads.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

// Nothing: it has none.
Result<std::unique_ptr<Summarizer>> summarizer_of(WorkspaceAgents& agents, const Manifest& thread,
                                                  const SummaryWish& wish, std::string& note) {
  if (!has_summary_engine(agents.agents(), thread.agent_id)) return nullptr;
  SKEIN_ASSIGN(PreparedAgent agent, agents.prepare({.run_id = "",
                                                    .agent_id = thread.agent_id,
                                                    .thread = thread.id,
                                                    .task_id = std::nullopt,
                                                    .chain = {}}));
  EngineSummarizerOptions options;
  options.engine = std::move(agent.engine);
  options.model = std::move(agent.model);
  options.options = std::move(agent.options);
  options.folder = std::move(agent.folder);
  options.window_tokens = agent.context.max_tokens;
  options.stop = wish.stop;
  options.progress = wish.progress;
  options.on_fallback = [&note](std::string_view why) { note = why; };
  return make_engine_summarizer(std::move(options));
}

}  // namespace

bool has_summary_engine(const Agents& agents, std::string_view agent_id) {
  const auto known = agents.all().find(agent_id);
  return known != agents.all().end() && known->second.engine != "echo";
}

Result<MadeSummary> make_summary(Store& store, WorkspaceAgents& agents, const Manifest& thread,
                                 SummaryWish wish) {
  MadeSummary made;
  std::unique_ptr<Summarizer> summarizer;
  if (!wish.extract) {
    auto by_engine = summarizer_of(agents, thread, wish, made.note);
    if (by_engine) {
      summarizer = std::move(*by_engine);
    } else {
      made.note = by_engine.error().message;
    }
  }
  wish.request.summarizer = summarizer.get();
  SKEIN_ASSIGN(made.summary, summarize_thread(store, thread.id, wish.request));
  return made;
}

std::unique_ptr<WorkspaceAgents> agents_without_tools(const Settings& settings) {
  auto agents = std::make_unique<WorkspaceAgents>(workspace_agents(settings));
  AgentEquipment equipment;
  equipment.check_trust = [settings](const AgentDefinition& agent) {
    return check_agent_trust(settings, agent);
  };
  agents->equip(std::move(equipment));
  return agents;
}

std::string to_json(const MadeSummary& made) {
  std::string json = made.summary ? summary_json(*made.summary) : "{\"seq\":null}";
  if (made.note.empty()) return json;
  json.back() = ',';
  return json + JsonObject().add("note", made.note).str().substr(1);
}

}  // namespace skein
