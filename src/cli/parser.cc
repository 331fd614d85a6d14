// The only file that includes CLI11, which takes long to compile.
#include "cli/parser.h"

#include <CLI/CLI.hpp>

#include <deque>
#include <map>

namespace skein {
namespace {

// CLI11 takes "[a,b]" for two values. Words of that form are marked before it sees them, and the
// mark is taken off again.
constexpr char kMark = '\x01';

std::string marked(const char* word) {
  const std::string_view text = word;
  const bool splits = text.starts_with('[') && text.ends_with(']');
  return splits ? kMark + std::string(text) : std::string(text);
}

std::string_view unmarked(std::string_view word) {
  if (word.starts_with(kMark)) word.remove_prefix(1);
  return word;
}

// An argument together with what was typed for it.
struct Bound {
  const Argument* argument;
  CLI::Option* option;
};

class Parser {
 public:
  explicit Parser(CommandTree& tree);

  Parsed parse(int argc, const char* const* argv);

 private:
  CLI::App* add_command(CLI::App& parent, Command& command);
  void describe(CLI::App& app, Command& command);
  void add_argument(CLI::App& app, const Argument& argument);
  void style(CLI::App& app);
  Result<void> set_values(const CLI::App& app) const;
  // What was typed for arguments of this command itself, or the first of it; null: nothing.
  const std::string* typed_for(const CLI::App& app) const;
  // The commands that were named, outermost first.
  std::vector<const CLI::App*> named() const;
  std::string words_before_last() const;
  Parsed refuse(const std::string& message) const;

  CLI::App root_{
      "Durable memory for AI agents: threads that survive crashes, processes and years."};
  std::deque<std::vector<Argument>> arguments_;  // stable addresses for bound_
  std::map<const CLI::App*, std::vector<Bound>> bound_;
  std::map<const CLI::App*, Command*> commands_;
};

Parser::Parser(CommandTree& tree) {
  root_.name("skein");
  style(root_);
  root_.set_version_flag("--version", "skein " SKEIN_VERSION, "print the version and end");
  root_.require_subcommand(1);
  root_.footer(
      "Each command has its own --help, with examples. Exit codes: 0 done, 1 refused or "
      "failed,\n2 wrong usage, 3 not found, 4 conflict, 130 ended by Ctrl-C.");
  for (const Argument& argument : tree.global) add_argument(root_, argument);
  for (CommandGroup& group : tree.groups) {
    CLI::App* parent = &root_;
    if (!group.name.empty()) {
      parent = root_.add_subcommand(group.name, group.summary);
      style(*parent);
      parent->require_subcommand(group.alone ? 0 : 1);
      if (group.alone) {
        describe(*parent, *group.alone);
        commands_[parent] = group.alone.get();
      }
    }
    for (auto& command : group.commands) commands_[add_command(*parent, *command)] = command.get();
  }
}

void Parser::style(CLI::App& app) {
  app.set_help_flag("-h,--help", "print this help and end");
  app.fallthrough();
  app.get_formatter()->column_width(32);
  app.get_formatter()->label("OPTIONS", "OPTION…");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("SUBCOMMANDS", "COMMANDS");
  app.get_formatter()->label("REQUIRED", "(required)");
}

CLI::App* Parser::add_command(CLI::App& parent, Command& command) {
  const CommandInfo info = command.info();
  CLI::App* app = parent.add_subcommand(info.name, info.summary);
  style(*app);
  describe(*app, command);
  return app;
}

void Parser::describe(CLI::App& app, Command& command) {
  const CommandInfo info = command.info();
  std::string footer = info.details.empty() ? "" : info.details + "\n\n";
  footer += "Examples:\n" + info.examples + "\nGlobal options (see skein --help): ";
  footer += "--store URL, --workspace DIR, --config FILE, --json";
  app.footer(footer);
  arguments_.push_back(command.arguments());
  for (const Argument& argument : arguments_.back()) add_argument(app, argument);
}

void Parser::add_argument(CLI::App& app, const Argument& argument) {
  CLI::Option* option = nullptr;
  if (argument.is_flag()) {
    option = app.add_flag(argument.names, argument.help);
  } else {
    option = app.add_option(argument.names, argument.help);
    const bool unbounded = argument.is_positional() && argument.repeated;
    option->expected(unbounded ? -1 : 1);
    if (!unbounded) option->allow_extra_args(false);
    std::string label = argument.value_name;
    for (std::size_t i = 0; i < argument.choices.size(); ++i) {
      label = (i == 0 ? "" : label + "|") + argument.choices[i];
    }
    option->option_text(argument.is_positional() ? (unbounded ? "…" : "") : label);
    if (argument.repeated) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  option->required(argument.required);
  if (argument.hidden) option->group("");
  bound_[&app].push_back({&argument, option});
}

Result<void> Parser::set_values(const CLI::App& app) const {
  const auto found = bound_.find(&app);
  if (found == bound_.end()) return {};
  for (const auto& [argument, option] : found->second) {
    if (option->count() == 0) continue;
    std::vector<std::string> values = option->results();
    if (argument->is_flag()) values = {""};
    for (const std::string& value : values) {
      if (auto set = argument->set(unmarked(value)); !set) {
        return fail(ErrorCode::kInvalid, argument->names + ": " + set.error().message);
      }
    }
  }
  return {};
}

const std::string* Parser::typed_for(const CLI::App& app) const {
  const auto found = bound_.find(&app);
  if (found == bound_.end()) return nullptr;
  for (const auto& [argument, option] : found->second) {
    if (option->count() == 0) continue;
    return argument->is_positional() ? &option->results().front() : &argument->names;
  }
  return nullptr;
}

std::vector<const CLI::App*> Parser::named() const {
  std::vector<const CLI::App*> apps{&root_};
  while (!apps.back()->get_subcommands().empty()) {
    apps.push_back(apps.back()->get_subcommands().front());
  }
  return apps;
}

std::string Parser::words_before_last() const {
  std::string words;
  for (const CLI::App* app : named()) {
    if (app->get_subcommands().empty()) break;
    words += (words.empty() ? "" : " ") + app->get_name();
  }
  return words;
}

Parsed Parser::refuse(const std::string& message) const {
  std::string words;
  for (const CLI::App* app : named()) words += app->get_name() + " ";
  return {nullptr, kExitUsage, message + "; see " + words + "--help"};
}

Parsed Parser::parse(int argc, const char* const* argv) {
  std::vector<std::string> words;  // the last one first, as CLI11 wants them
  for (int i = argc - 1; i > 0; --i) words.push_back(marked(argv[i]));
  try {
    root_.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return {nullptr, kExitDone, named().back()->help(words_before_last())};
  } catch (const CLI::CallForVersion& version) {
    return {nullptr, kExitDone, std::string(version.what()) + "\n"};
  } catch (const CLI::Error& error) {
    return refuse(error.what());
  }
  const auto apps = named();
  for (std::size_t i = 0; i + 1 < apps.size(); ++i) {
    if (commands_.contains(apps[i]) && typed_for(*apps[i]) != nullptr) {
      return refuse("The following argument was not expected: " + *typed_for(*apps[i]));
    }
  }
  for (const CLI::App* app : apps) {
    if (auto set = set_values(*app); !set) return refuse(set.error().message);
  }
  return {commands_.at(apps.back()), kExitDone, ""};
}

}  // namespace

Parsed parse_command_line(CommandTree& tree, int argc, const char* const* argv) {
  return Parser(tree).parse(argc, argv);
}

}  // namespace skein
