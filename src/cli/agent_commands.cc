#include <fmt/format.h>

#include "api/agents.h"
#include "cli/agent_edit_commands.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/table.h"
#include "core/json_array.h"

namespace skein {
namespace {

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print the agents of the workspace",
            .examples =
                "  skein agent list\n"
                "  skein agent list --json\n",
            .details = "Those with mistakes are left out, and told on standard error."};
  }
  std::vector<Argument> arguments() override { return {}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    const Agents agents = workspace_agents(settings);
    Table table(context, {"ID", "ENGINE", "MODEL", "ABOUT"});
    for (const auto& [id, agent] : agents.all()) {
      table.add({id, agent.engine, agent.model, agent.description}, agent_json(agent));
    }
    table.print();
    for (const AgentProblem& problem : agents.problems()) print_notice(printable(problem.str()));
    return kExitDone;
  }
};

class Show : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "show",
            .summary = "print an agent's definition as it is understood",
            .examples =
                "  skein agent show echo\n"
                "  skein agent show helper --json\n",
            .details = "Exit code 3: there is no such agent; 1: its definition has mistakes."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "ID",
             .value_name = "ID",
             .help = "the agent",
             .set = into(id_),
             .required = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const AgentDefinition agent, workspace_agents(settings).get(id_));
    if (context.json()) {
      context.out().write(agent_json(agent) + "\n");
    } else {
      context.out().write_stored(agent_text(agent));
    }
    return kExitDone;
  }

 private:
  std::string id_;
};

class Check : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "check",
            .summary = "look for mistakes in the definitions of agents",
            .examples =
                "  skein agent check\n"
                "  skein agent check helper --json\n",
            .details =
                "Every mistake is told at once, with file, field and reason. Exit code 1: there "
                "are some.\nNothing is started and no network is used."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "ID",
             .value_name = "ID",
             .help = "only this agent (default: all)",
             .set = into(id_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    const Agents agents = workspace_agents(settings);
    std::vector<AgentProblem> problems;
    for (const AgentProblem& problem : agents.problems()) {
      if (!id_ || problem.agent_id == *id_) problems.push_back(problem);
    }
    if (id_ && problems.empty()) SKEIN_TRY(agents.get(*id_));
    if (context.json()) {
      std::vector<std::string> objects;
      for (const AgentProblem& problem : problems) objects.push_back(agent_problem_json(problem));
      context.out().write(json_array_of(objects) + "\n");
    } else {
      for (const AgentProblem& problem : problems) {
        context.out().write_stored(printable(problem.str()) + "\n");
      }
      if (problems.empty()) {
        context.out().write(fmt::format("{} fine\n", id_ ? *id_ + " is" : std::string("all are")));
      }
    }
    return problems.empty() ? kExitDone : kExitRefused;
  }

 private:
  std::optional<std::string> id_;
};

}  // namespace

CommandGroup agent_commands() {
  CommandGroup group{"agent", "who answers: definitions of agents", {}};
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Show>());
  group.commands.push_back(std::make_unique<Check>());
  add_agent_edit_commands(group);
  return group;
}

}  // namespace skein
