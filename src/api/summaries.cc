#include "api/summaries.h"

#include <utility>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "api/threads.h"
#include "core/json_object.h"
#include "core/try.h"
#include "runner/usage_record.h"

namespace skein {
namespace {

// Nothing: it has none.
Result<std::unique_ptr<Summarizer>> summarizer_of(WorkspaceAgents& agents, const Manifest& thread,
                                                  const SummaryOptions& wish, SummaryOutcome& made,
                                                  EngineCost& cost) {
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
  options.on_fallback = [&made](std::string_view why) { made.note = why; };
  options.on_cost = [&cost](const EngineCost& more) {
    add_usage(cost.usage, more.usage);
    cost.model = more.model;
    cost.duration_ms += more.duration_ms;
  };
  return make_engine_summarizer(std::move(options));
}

}  // namespace

bool has_summary_engine(const Agents& agents, std::string_view agent_id) {
  const auto known = agents.all().find(agent_id);
  return known != agents.all().end() && known->second.engine != "echo";
}

Result<SummaryOutcome> make_summary(Store& store, WorkspaceAgents& agents, const Manifest& thread,
                                    SummaryOptions wish) {
  SummaryOutcome made;
  EngineCost cost;
  std::unique_ptr<Summarizer> summarizer;
  if (!wish.extract && wish.request.summarizer == nullptr) {
    auto by_engine = summarizer_of(agents, thread, wish, made, cost);
    if (by_engine) {
      summarizer = std::move(*by_engine);
    } else {
      made.note = by_engine.error().message;
    }
  }
  if (summarizer) wish.request.summarizer = summarizer.get();
  auto summary = summarize_thread(store, thread.id, wish.request);
  // Whatever became of it, the engine was paid.
  const auto recorded = record_usage(store,
                                     {.at = system_clock().now(),
                                      .agent_id = thread.agent_id,
                                      .thread = thread.id,
                                      .cost = std::move(cost),
                                      .purpose = "summary"},
                                     random_ids());
  SKEIN_ASSIGN(made.summary, std::move(summary));
  if (recorded) return made;
  const std::string done = made.summary
                               ? "event " + std::to_string(made.summary->seq) + " was written"
                               : "nothing to do";
  return fail(recorded.error().code,
              "summary of thread " + thread.id.str() + ": " + done +
                  ", but what it cost cannot be recorded: " + recorded.error().message);
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

std::string to_json(const SummaryOutcome& made) {
  std::string json = made.summary ? summary_json(*made.summary) : "{\"seq\":null}";
  if (made.note.empty()) return json;
  json.back() = ',';
  return json + JsonObject().add("note", made.note).str().substr(1);
}

}  // namespace skein
