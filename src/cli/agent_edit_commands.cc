// skein agent add, edit, remove.
#include "cli/agent_edit_commands.h"

#include <unistd.h>

#include "api/definition_files.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/definition_arguments.h"
#include "cli/dialogue.h"
#include "cli/editor.h"
#include "core/file.h"
#include "core/json_edit.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/scratch_folder.h"
#include "core/try.h"
#include "skein/agents.h"

namespace skein {
namespace {

void tell_done(Context& context, std::string_view done, const std::string& id,
               const std::filesystem::path& file) {
  const std::string shown = printable(file.string());
  if (context.json()) {
    context.out().write(JsonObject().add("agent", id).add("file", shown).add("done", done).str() +
                        "\n");
  } else {
    context.out().write_stored(std::string(done) + " " + id + ": " + shown + "\n");
  }
}

Result<Json> read_definition(const std::string& file) {
  std::string text;
  if (file == "-") {
    SKEIN_ASSIGN(text, read_standard_input(limits::kMaxAgentFileBytes));
  } else {
    SKEIN_ASSIGN(auto read, read_file(file, limits::kMaxAgentFileBytes));
    if (!read) return fail(ErrorCode::kNotFound, "there is no regular file " + quote(file, 200));
    text = std::move(*read);
  }
  auto object = Json::parse_object(text);
  if (object) return object;
  return fail(ErrorCode::kInvalid,
              (file == "-" ? "standard input" : file) + ": " + object.error().message);
}

class Add : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "add",
            .summary = "create an agent",
            .examples =
                "  skein agent add helper --engine anthropic --model claude-sonnet-4-5\n"
                "  skein agent add local --engine openai --model llama3 --option "
                "baseUrl=http://localhost:11434/v1\n"
                "  skein agent add coder --engine claude-code --system-file coder.md\n"
                "  skein agent add clerk --engine echo --mcp 'files=npx -y some-server .'\n"
                "  skein agent add helper --file helper.json\n",
            .details =
                "Writes agents/ID/agent.json in the workspace, after the checks of \"agent "
                "check\". A VALUE that is JSON is\nstored as JSON, any other as text. Exit code 4: "
                "the agent exists already."};
  }
  std::vector<Argument> arguments() override {
    std::vector<Argument> all = {{.names = "ID",
                                  .value_name = "ID",
                                  .help = "the new agent's id",
                                  .set = into(id_),
                                  .required = true},
                                 {.names = "--file",
                                  .value_name = "FILE",
                                  .help = "a definition as JSON to begin with; - reads standard "
                                          "input",
                                  .set = into(file_),
                                  .is_path = true}};
    for (Argument& argument : definition_.arguments()) all.push_back(std::move(argument));
    return all;
  }

  Outcome run(Context& context) override {
    if (!file_ && !definition_.any()) {
      return wrong_usage("say what the agent is: --engine ENGINE, or --file FILE");
    }
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    const auto existing = find_agent_definition(settings, id_);
    if (existing) {
      return fail(ErrorCode::kConflict, "the agent " + quote(id_) + " is defined in " +
                                            printable(existing->file.string()) +
                                            "; run \"skein agent edit\"");
    }
    if (existing.error().code != ErrorCode::kNotFound) return fail_with(existing.error());
    Json definition = Json::trusted("{}");
    if (file_) {
      SKEIN_ASSIGN(definition, read_definition(*file_));
    }
    SKEIN_ASSIGN(definition, definition_.apply(definition));
    SKEIN_ASSIGN(const auto system, definition_.system_text());
    SKEIN_ASSIGN(const auto file, write_agent_definition(settings, id_, definition, system));
    tell_done(context, "added", id_, file);
    return kExitDone;
  }

 private:
  static Outcome fail_with(Error error) { return tl::unexpected<Failure>(std::move(error)); }

  std::string id_;
  std::optional<std::string> file_;
  DefinitionArguments definition_;
};

class Edit : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "edit",
            .summary = "change an agent's definition",
            .examples =
                "  skein agent edit helper\n"
                "  skein agent edit helper --model claude-opus-4-5 --set limits.turns=20\n"
                "  skein agent edit helper --unset capabilities.mcpServers.files\n",
            .details =
                "Edits the file that \"agent show\" names, after the checks of \"agent check\". "
                "Without options it opens $VISUAL or\n$EDITOR on a copy, on a terminal, and asks "
                "again while the definition has mistakes."};
  }
  std::vector<Argument> arguments() override {
    std::vector<Argument> all = {{.names = "ID",
                                  .value_name = "ID",
                                  .help = "the agent",
                                  .set = into(id_),
                                  .required = true}};
    for (Argument& argument : definition_.arguments()) all.push_back(std::move(argument));
    return all;
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    if (!definition_.any()) return edit_by_hand(context, settings);
    SKEIN_ASSIGN(const Json before, read_agent_definition(settings, id_));
    SKEIN_ASSIGN(const Json definition, definition_.apply(before));
    SKEIN_ASSIGN(const auto system, definition_.system_text());
    SKEIN_ASSIGN(const auto file, write_agent_definition(settings, id_, definition, system));
    tell_done(context, "changed", id_, file);
    return kExitDone;
  }

 private:
  Outcome edit_by_hand(Context& context, const Settings& settings) {
    SKEIN_ASSIGN(const AgentPlace place, find_agent_definition(settings, id_));
    // A definition that is not even JSON is edited as it stands.
    std::string text;
    if (const auto before = read_agent_definition(settings, id_)) {
      text = indented_json(before->text()) + "\n";
    } else if (!place.configured) {
      SKEIN_ASSIGN(auto raw, read_file(place.file.string(), limits::kMaxAgentFileBytes));
      text = raw.value_or("");
    }
    SKEIN_ASSIGN(const ScratchFolder scratch, ScratchFolder::create());
    SKEIN_ASSIGN(const std::string copy, scratch.write(id_ + ".json", text));
    while (true) {
      if (auto edited = edit_file(copy, "say what to change, such as --set limits.turns=20");
          !edited) {
        return tl::unexpected<Failure>(std::move(edited).error());
      }
      auto written = write_edited(settings, copy);
      if (written) {
        tell_done(context, "changed", id_, *written);
        return kExitDone;
      }
      print_notice(printable(written.error().message));
      SKEIN_ASSIGN_OR_FAIL(const bool again, ask("Edit again?", "to edit again"));
      if (!again) return fail(ErrorCode::kInvalid, "nothing was written");
    }
  }

  Result<std::filesystem::path> write_edited(const Settings& settings,
                                             const std::string& copy) const {
    SKEIN_ASSIGN(const Json definition, read_definition(copy));
    return write_agent_definition(settings, id_, definition);
  }

  std::string id_;
  DefinitionArguments definition_;
};

class Remove : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "remove",
            .summary = "remove an agent's definition",
            .examples =
                "  skein agent remove helper\n"
                "  skein agent remove helper --yes\n",
            .details = "Threads of the agent stay. Other files in its folder stay, too."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "ID",
             .value_name = "ID",
             .help = "the agent",
             .set = into(id_),
             .required = true},
            {.names = "-y,--yes", .help = "do not ask", .set = into(yes_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    SKEIN_ASSIGN(const AgentPlace place, find_agent_definition(settings, id_));
    if (!yes_) {
      const std::string question =
          "Remove the agent " + id_ + " from " + printable(place.file.string()) + "?";
      SKEIN_ASSIGN_OR_FAIL(const bool agreed, ask(question, "to remove it"));
      if (!agreed) return fail(ErrorCode::kInvalid, "nothing was removed");
    }
    SKEIN_ASSIGN(const auto file, remove_agent_definition(settings, id_));
    tell_done(context, "removed", id_, file);
    return kExitDone;
  }

 private:
  std::string id_;
  bool yes_ = false;
};

}  // namespace

void add_agent_edit_commands(CommandGroup& group) {
  group.commands.push_back(std::make_unique<Add>());
  group.commands.push_back(std::make_unique<Edit>());
  group.commands.push_back(std::make_unique<Remove>());
}

}  // namespace skein
