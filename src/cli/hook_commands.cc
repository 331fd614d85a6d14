#include <unistd.h>

#include <cstdlib>

#include "api/hooks.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/dialogue.h"
#include "cli/file_change.h"
#include "core/find_program.h"
#include "skein/checkpoints.h"

namespace skein {
namespace {

// Whatever happens, the agent that calls it goes on undisturbed: it ends with 0, and says nothing
// but what is for the agent.
class RunHook : public Command {
 public:
  RunHook(HookName hook, std::string name, std::string summary)
      : hook_(hook), name_(std::move(name)), summary_(std::move(summary)) {}

  CommandInfo info() const override {
    return {.name = name_,
            .summary = summary_,
            .examples = "  skein hook " + name_ + " < event.json\n",
            .details =
                "Called by Claude Code with JSON on standard input; see `skein hook install`. "
                "Ends with 0 in any case; what\ngoes wrong is in WORKSPACE/.skein/hook.log."};
  }
  std::vector<Argument> arguments() override { return {}; }

  Outcome run(Context& context) override {
    const auto settings = workspace_settings(context);
    if (!settings) {
      print_notice(printable(settings.error().error.message));
      return kExitDone;
    }
    const auto told = ::isatty(STDIN_FILENO) == 1 ? Result<std::string>("")
                                                  : read_standard_input(limits::kMaxHookBytes);
    context.out().write(run_hook(*settings, hook_, told.value_or("")));
    (void)context.out().flush();
    return kExitDone;
  }

 private:
  // Hooks that were installed before --start-dir name the agent's folder as the workspace.
  static tl::expected<Settings, Failure> workspace_settings(const Context& context) {
    const char* project = std::getenv("CLAUDE_PROJECT_DIR");
    if (project != nullptr && context.named_workspace() == project) {
      return context.settings_from(project);
    }
    return context.settings(Context::Notices::kNewWorkspace);
  }

  const HookName hook_;
  const std::string name_;
  const std::string summary_;
};

class Install : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "install",
            .summary = "have Claude Code call the hooks in this workspace",
            .examples =
                "  skein hook install\n"
                "  skein hook install --yes\n",
            .details =
                "Adds to WORKSPACE/.claude/settings.json and keeps what is there. Shows the "
                "change first, and asks."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "-y,--yes", .help = "do not ask", .set = into(yes_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const FileChange planned, plan_hooks(settings, own_program()));
    return make_change(context, settings, planned, yes_, "the hooks are there already");
  }

 private:
  bool yes_ = false;
};

}  // namespace

CommandGroup hook_commands() {
  CommandGroup group{"hook", "called by a coding agent as it works", {}};
  const auto add = [&group](HookName hook, const char* name, const char* summary) {
    group.commands.push_back(std::make_unique<RunHook>(hook, name, summary));
  };
  group.commands.push_back(std::make_unique<Install>());
  add(HookName::kPostToolUse, "post-tool-use", "make an automatic checkpoint, where one is due");
  add(HookName::kSessionStart, "session-start", "remember where a session begins, and greet it");
  add(HookName::kSessionEnd, "session-end", "note that a session ended");
  add(HookName::kStop, "stop", "note the end of a turn");
  return group;
}

}  // namespace skein
