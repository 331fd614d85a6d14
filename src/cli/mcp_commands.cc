#include <unistd.h>

#include "cli/arguments.h"
#include "cli/context.h"
#include "mcp/catalogue.h"
#include "mcp/fixtures.h"
#include "mcp/server.h"
#include "mcp/stdio_server.h"

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
             .hidden = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
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
  bool fixtures_ = false;
};

}  // namespace

CommandGroup mcp_commands() {
  CommandGroup group{"mcp", "a server of the Model Context Protocol, for coding agents", {}};
  group.alone = std::make_unique<Serve>();
  group.commands.push_back(mcp_install_command());
  return group;
}

}  // namespace skein
