#include "api/agents.h"

#include <fmt/format.h>

#include "api/config_file.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string pairs_json(const Pairs& pairs) {
  JsonObject object;
  for (const auto& [name, value] : pairs) object.add(name, value);
  return object.str();
}

std::string server_json(const ToolServer& server) {
  JsonObject object;
  if (!server.command.empty()) {
    object.add("command", server.command.front());
    object.add("args", std::vector(server.command.begin() + 1, server.command.end()));
    object.add_json("env", pairs_json(server.environment));
  } else {
    object.add("url", server.url);
    object.add_json("headers", pairs_json(server.headers));
  }
  return object.str();
}

std::string capabilities_json(const AgentCapabilities& capabilities) {
  JsonObject servers;
  for (const ToolServer& server : capabilities.servers) {
    servers.add_json(server.name, server_json(server));
  }
  return JsonObject()
      .add_json("mcpServers", servers.str())
      .add("builtin", capabilities.builtin)
      .add("allow", capabilities.allow)
      .add("confirm", capabilities.confirm)
      .str();
}

std::string number_json(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

std::string limits_json(const RunLimits& limits) {
  JsonObject object;
  object.add("turns", static_cast<std::uint64_t>(limits.max_turns));
  if (limits.timeout) {
    object.add_json("seconds", number_json(static_cast<double>(limits.timeout->count()) / 1000));
  }
  if (limits.max_tokens) object.add("tokens", static_cast<std::uint64_t>(*limits.max_tokens));
  if (limits.max_output_tokens) {
    object.add("outputTokens", static_cast<std::uint64_t>(*limits.max_output_tokens));
  }
  if (limits.max_cost_usd) object.add_json("costUsd", number_json(*limits.max_cost_usd));
  return object.str();
}

AgentPlaces places_of(const Settings& settings) {
  return {.folder = (settings.workspace / "agents").string(),
          .configured = settings.agents,
          .config_file = settings.config_file.value_or("").string(),
          .workspace = settings.workspace.string()};
}

}  // namespace

Agents workspace_agents(const Settings& settings) { return Agents::load(places_of(settings)); }

Result<AgentDefinition> agent_on_disk(const Settings& settings, const AgentDefinition& agent) {
  AgentPlaces places = places_of(settings);
  places.only = agent.id;
  if (settings.config_file && agent.file == places.config_file) {
    SKEIN_ASSIGN(ConfigFile config, read_config(*settings.config_file, Links::kRefuse));
    places.configured = std::move(config.agents);
  }
  return Agents::load(places).get(agent.id);
}

std::string agent_json(const AgentDefinition& agent) {
  JsonObject object;
  object.add("id", agent.id).add("file", mended_utf8(agent.file)).add("engine", agent.engine);
  if (!agent.model.empty()) object.add("model", agent.model);
  if (!agent.title_model.empty()) object.add("titleModel", agent.title_model);
  if (!agent.description.empty()) object.add("description", agent.description);
  if (!agent.system.empty()) object.add("system", agent.system);
  object.add_json("capabilities", capabilities_json(agent.capabilities));
  object.add_json("limits", limits_json(agent.limits));
  object.add_json("context", JsonObject()
                                 .add("maxTokens", agent.context.max_tokens)
                                 .add("strategy", to_string(agent.context.strategy))
                                 .str());
  if (!agent.options.empty()) {
    std::string options;
    append_json_on_one_line(options, agent.options.text());
    object.add_json("options", options);
  }
  return object.add("folder", mended_utf8(agent.folder)).str();
}

std::string agent_text(const AgentDefinition& agent) {
  std::string text = fmt::format("{}\n", agent.id);
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<12}{}\n", name, value);
  };
  line("file", agent.file.empty() ? "(built in)" : agent.file);
  line("about", agent.description);
  line("engine", agent.engine);
  line("model", agent.model);
  line("title model", agent.title_model);
  for (const ToolServer& server : agent.capabilities.servers) {
    line("server",
         server.name + ": " +
             (server.command.empty() ? server.url
                                     : fmt::format("{}", fmt::join(server.command, " "))));
  }
  line("built in", fmt::format("{}", fmt::join(agent.capabilities.builtin, ", ")));
  line("allow", fmt::format("{}", fmt::join(agent.capabilities.allow, ", ")));
  line("confirm", fmt::format("{}", fmt::join(agent.capabilities.confirm, ", ")));
  line("limits", limits_json(agent.limits));
  line("options", agent.options.text());
  line("folder", agent.folder);
  if (!agent.system.empty())
    text += "\n" + agent.system + (agent.system.ends_with('\n') ? "" : "\n");
  return text;
}

std::string agent_problem_json(const AgentProblem& problem) {
  return JsonObject()
      .add("agent", problem.agent_id)
      .add("file", mended_utf8(problem.file))
      .add("field", problem.field)
      .add("reason", problem.reason)
      .str();
}

}  // namespace skein
