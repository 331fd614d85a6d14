#include "api/mcp_install.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/file_change.h"
#include "core/find_program.h"

namespace skein {
namespace {

class Install : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "install",
        .summary = "have a coding agent start the server",
        .examples =
            "  skein mcp install claude-code\n"
            "  skein mcp install codex --yes\n"
            "  skein --workspace ~/project mcp install cursor\n",
        .details =
            "Adds the server to WORKSPACE/.mcp.json (Claude Code), ~/.codex/config.toml (Codex) "
            "or\nWORKSPACE/.cursor/mcp.json (Cursor), and keeps what is there. Shows the change "
            "first, and asks."};
  }

  std::vector<Argument> arguments() override {
    Argument client = with_choices<McpClientKind>(
        {.names = "CLIENT", .value_name = "CLIENT", .help = "claude-code, codex or cursor"},
        {{"claude-code", McpClientKind::kClaudeCode},
         {"codex", McpClientKind::kCodex},
         {"cursor", McpClientKind::kCursor}},
        client_);
    client.required = true;
    return {std::move(client), {.names = "-y,--yes", .help = "do not ask", .set = into(yes_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const FileChange planned, plan_mcp_server(settings, *client_, own_program()));
    return make_change(context, settings, planned, yes_, "the server is there already");
  }

 private:
  std::optional<McpClientKind> client_;
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<Command> mcp_install_command() { return std::make_unique<Install>(); }

}  // namespace skein
