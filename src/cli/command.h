// What a command of the program is: a name, its arguments, and what it does with them.
//
// Commands describe themselves in plain data. The parser turns that into a command line, the
// completion into scripts for shells, and neither knows any command.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

class Context;

enum ExitCode : int {
  kExitDone = 0,
  kExitRefused = 1,  // refused or failed
  kExitUsage = 2,    // the command line or the configuration makes no sense
  kExitNotFound = 3,
  kExitConflict = 4,
};

// An error, and what the program ends with because of it.
struct Failure {
  Failure(Error what);  // NOLINT(google-explicit-constructor): every error is a failure
  Failure(Error what, int code) : error(std::move(what)), exit_code(code) {}

  Error error;
  int exit_code;
};

// The exit code of a command that ran, or why it did not.
using Outcome = tl::expected<int, Failure>;

// For arguments that are fine alone and make no sense together.
tl::unexpected<Failure> wrong_usage(std::string message);

struct Argument {
  // Takes one value as typed; flags get an empty one. A refusal is wrong usage.
  using Set = std::function<Result<void>(std::string_view value)>;

  std::string names;            // "--agent", "-y,--yes"; without dashes: given by its place
  std::string value_name = {};  // how the help calls the value; empty: a flag
  std::string help;
  Set set = {};
  bool required = false;
  bool repeated = false;                  // may be given more than once
  std::vector<std::string> choices = {};  // for completion; `set` refuses all others
  bool is_path = false;                   // for completion
  bool hidden = false;                    // from help and completion

  bool is_flag() const { return value_name.empty(); }
  bool is_positional() const { return !names.starts_with('-'); }
};

struct CommandInfo {
  std::string name;
  std::string summary;       // one line, for lists of commands
  std::string examples;      // one a line
  std::string details = {};  // further paragraphs for the help; may be empty
};

// Used once: the arguments are set into its members, then it runs.
class Command {
 public:
  virtual ~Command() = default;
  virtual CommandInfo info() const = 0;
  virtual std::vector<Argument> arguments() = 0;
  virtual Outcome run(Context& context) = 0;
};

// Commands behind a common word, such as "thread"; without a name: at the top.
struct CommandGroup {
  std::string name;
  std::string summary;
  std::vector<std::unique_ptr<Command>> commands;
  std::unique_ptr<Command> alone = nullptr;  // what the word does without any of them; or nothing
};

// Everything that can be typed.
struct CommandTree {
  std::vector<Argument> global;
  std::vector<CommandGroup> groups;
};

CommandGroup thread_commands();
CommandGroup agent_commands();
CommandGroup config_commands();
CommandGroup run_commands();   // run, chat, usage
CommandGroup runs_commands();  // runs list, show, cancel, resume
CommandGroup item_commands();
CommandGroup session_commands();
CommandGroup transfer_commands();  // import, export, migrate, redact
std::unique_ptr<Command> import_command();
std::unique_ptr<Command> migrate_command();
std::unique_ptr<Command> redact_command();
CommandGroup watch_commands();
CommandGroup care_commands();  // init, doctor, cleanup, demo
std::unique_ptr<Command> init_command();
std::unique_ptr<Command> demo_command();
std::unique_ptr<Command> cleanup_command();
CommandGroup checkpoint_commands();  // checkpoint, and checkpoint list, show, search
void add_checkpoint_lists(CommandGroup& group);
CommandGroup checkpoints_alias();
CommandGroup resume_commands();  // handoff, resume
CommandGroup trust_commands();
CommandGroup hook_commands();
CommandGroup mcp_commands();
std::unique_ptr<Command> mcp_install_command();
CommandGroup task_commands();
CommandGroup trigger_commands();
CommandGroup serve_commands();
CommandGroup key_commands();
CommandGroup recall_commands();  // search, backfill
CommandGroup bench_commands();
std::unique_ptr<Command> recall_bench_command();
// Borrows the tree, which must be complete when the command runs.
CommandGroup completion_commands(const CommandTree& tree);

}  // namespace skein
