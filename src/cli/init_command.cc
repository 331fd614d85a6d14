#include <fmt/format.h>

#include <filesystem>

#include "api/workspace_detection.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/file.h"
#include "core/json_object.h"
#include "core/own_folder.h"
#include "core/try.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

struct NextStep {
  const char* command;
  const char* what;
};

constexpr NextStep kNext[] = {
    {"skein thread create --title \"First\"", "start a conversation"},
    {"skein hook install", "have Claude Code make checkpoints here"},
    {"skein mcp install claude-code", "give Claude Code Skein's tools here"},
    {"skein doctor --setup", "see what else can be set up"},
};

class Init : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "init",
            .summary = "make a folder a workspace",
            .examples =
                "  skein init\n"
                "  skein init ~/project\n",
            .details =
                "Creates DIR/.skein, readable by you alone, with a .gitignore that keeps "
                "databases, locks, caches and logs out of\ngit. Without DIR: the folder that "
                "commands run here use, such as the root of the git repository. Running\nit "
                "again changes nothing. Other commands create .skein too, when they first write."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "DIR",
             .value_name = "DIR",
             .help = "the workspace; created if it does not exist (default: as detected)",
             .set = into(folder_),
             .is_path = true}};
  }

  Outcome run(Context& context) override {
    Flusher flusher;
    if (folder_) SKEIN_TRY(make_folders(*folder_, flusher));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, folder_
                                                      ? context.settings_in(*folder_)
                                                      : context.settings(Context::Notices::kNone));
    const fs::path own = settings.workspace / kOwnFolderName;
    std::error_code error;
    const bool had_folder = fs::exists(own, error);
    const bool had_ignore = fs::exists(own / ".gitignore", error);
    SKEIN_TRY(make_own_folder(settings.workspace.string(), flusher));
    std::vector<std::string> made;
    if (!had_folder) made.emplace_back(".skein/");
    if (!had_ignore) made.emplace_back(".skein/.gitignore");
    print(context, settings, made);
    return kExitDone;
  }

 private:
  static void print(Context& context, const Settings& settings,
                    const std::vector<std::string>& made) {
    const std::string workspace = printable(settings.workspace.string());
    const std::string elsewhere = used_instead(settings.workspace);
    if (context.json()) {
      std::vector<std::string> next;
      for (const NextStep& step : kNext) next.emplace_back(step.command);
      JsonObject object;
      object.add("workspace", workspace).add("made", made).add("next", next);
      if (!elsewhere.empty()) object.add("note", elsewhere);
      context.out().write(object.str() + "\n");
      return;
    }
    std::string text = fmt::format("workspace  {}\n", workspace);
    text += made.empty() ? "made       nothing: it is a workspace already\n"
                         : fmt::format("made       {}\n", fmt::join(made, ", "));
    if (!elsewhere.empty()) text += fmt::format("note       {}\n", elsewhere);
    text += "next\n";
    for (const NextStep& step : kNext) {
      text += fmt::format("  {:<38}{}\n", step.command, step.what);
    }
    context.out().write_stored(text);
  }

  // A folder can be a workspace that commands run in it do not take: the home folder, a linked
  // worktree. Empty: they take it.
  static std::string used_instead(const fs::path& workspace) {
    std::error_code error;
    const auto found = find_workspace(workspace);
    if (found && found->folder == fs::canonical(workspace, error)) return "";
    const std::string named = printable(workspace.string());
    if (!found) {
      return fmt::format("commands use it only with --workspace {} or SKEIN_WORKSPACE", named);
    }
    return fmt::format("commands run there use {}, unless --workspace {} or SKEIN_WORKSPACE is set",
                       printable(found->folder.string()), named);
  }

  std::optional<std::string> folder_;
};

}  // namespace

std::unique_ptr<Command> init_command() { return std::make_unique<Init>(); }

}  // namespace skein
