#include <unistd.h>

#include "api/runs.h"
#include "api/task_server.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "mcp/catalogue.h"
#include "mcp/fixtures.h"
#include "mcp/server.h"
#include "mcp/stdio_server.h"
#include "mcp/tools/tools.h"
#include "skein/tasks.h"

namespace skein {
namespace {

class Serve : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "mcp",
        .summary = "give a coding agent this workspace's memory, over standard streams",
        .examples =
            "  skein mcp install claude-code\n"
            "  skein --workspace ~/project mcp\n",
        .details =
            "Speaks the Model Context Protocol, versions 2026-07-28 and 2025-11-25 with its "
            "older siblings, a message a line.\nIt is started by a client, such as Claude Code, "
            "Codex or Cursor; `skein mcp install` tells them how. The\nstore is made when "
            "something is first written."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--conformance-fixtures",
             .help = "also what the protocol's conformance suites call",
             .set = into(fixtures_),
             .hidden = true},
            {.names = "--task",
             .value_name = "TASK",
             .help = "only the tools of this task, for the agent that works on it in --run",
             .set = into(task_),
             .hidden = true},
            {.names = "--run",
             .value_name = "RUN",
             .help = "the run under way that --task is worked on in",
             .set = into(run_),
             .hidden = true}};
  }

  Outcome run(Context& context) override {
    if (task_.has_value() != run_.has_value()) return wrong_usage("--task and --run go together");
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    if (task_) return serve_task(context, settings);
    mcp::Workspace workspace({.settings = settings, .store_options = context.store_options()});
    mcp::FixtureHooks hooks;
    mcp::Catalogue catalogue = mcp::workspace_catalogue(workspace);
    if (fixtures_) mcp::add_fixtures(catalogue, hooks);
    mcp::Server server(workspace, std::move(catalogue), {.lists_change = fixtures_});
    hooks.tools_changed = [&server] { server.watch().tools_changed(); };
    hooks.prompts_changed = [&server] { server.watch().prompts_changed(); };
    SKEIN_TRY(mcp::StdioServer(server, STDIN_FILENO, STDOUT_FILENO).run());
    return kExitDone;
  }

 private:
  // How the engine of a run reaches the task of that run (api/task_server.h).
  Outcome serve_task(Context& context, const Settings& settings) {
    SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
    RunDesk desk(settings, *store);
    Tasks tasks(*store, desk.runner(), desk.agents(), system_clock(), random_ids(),
                settings.signer);
    SKEIN_ASSIGN(auto built_in, tools_of_task_server(*run_, *task_, desk.runner(), tasks));
    mcp::Catalogue catalogue;
    for (BuiltInTool& tool : built_in) catalogue.tools.push_back(mcp::tool_of(std::move(tool)));
    mcp::Workspace workspace({.settings = settings, .store = store.get()});
    mcp::Server server(
        workspace, std::move(catalogue),
        {.instructions = "The task that you are working on: read it, plan its steps, "
                         "and complete it when everything that it asks for is there."});
    SKEIN_TRY(mcp::StdioServer(server, STDIN_FILENO, STDOUT_FILENO).run());
    return kExitDone;
  }

  bool fixtures_ = false;
  std::optional<std::string> task_;
  std::optional<std::string> run_;
};

}  // namespace

CommandGroup mcp_commands() {
  CommandGroup group{"mcp", "a server of the Model Context Protocol, for coding agents", {}};
  group.alone = std::make_unique<Serve>();
  group.commands.push_back(mcp_install_command());
  return group;
}

}  // namespace skein
