#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/transfer/folders/import_paths.h"
#include "api/unsigned_records.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/import_output.h"
#include "core/try.h"

namespace skein {
namespace {

class Import : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "import",
        .summary = "import from other programs: threads, agents, tasks, items, checkpoints",
        .examples =
            "  skein import ~/.nova --dry-run\n"
            "  skein import ~/agents\n"
            "  skein import ~/agents/support ~/old/a1b2c3d4e5f6.jsonl --dry-run\n"
            "  skein import ~/.claude/projects ~/.codex/sessions\n"
            "  skein import messages.json --agent support\n"
            "  skein import backup.jsonl --no-redact --json\n",
        .details =
            "PATH is any of\n"
            "  a folder of agents (AGENT/threads/ID.jsonl), the folder of one agent, one thread "
            "file, or what\n  `skein export` wrote;\n"
            "  transcripts of Claude Code or rollouts of Codex: files, or folders with any number "
            "of "
            "them below;\n"
            "  a file with messages as OpenAI, LangChain or LangGraph write them;\n"
            "  a Nova workspace: agents, threads, usage, tasks and triggers;\n"
            "  a gitmem project: work items and working sessions (.gitmem/);\n"
            "  an HQ folder, or a workspace of Skein: checkpoints (workspace/threads/, "
            "workspace/checkpoints/).\n"
            "A folder may be several of these at once. Agents, tasks and triggers arrive inactive; "
            "`skein trust` shows and\nactivates them. The table at the end adds up: found = taken "
            "+ "
            "already there + left out.\n"
            "The files are only read. Doing it again imports only what is new: threads that are "
            "there get the events\nthat they lack. What in a transcript is no part of the "
            "conversation is ignored, and counted. Credentials are\nreplaced by [redacted:RULE]; "
            "see `skein redact --help`.\nThe exit code is 1 if a line or file could not be taken, "
            "and 4 if threads differ from those in the store."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "PATH",
         .value_name = "PATH",
         .help = "where the threads are",
         .set = into(paths_),
         .required = true,
         .repeated = true,
         .is_path = true},
        {.names = "--agent",
         .value_name = "A",
         .help = "whose the threads of transcripts are, and those that name no agent (default: "
                 "claude-code, codex, or the configuration's)",
         .set = into(agent_)},
        {.names = "--dry-run", .help = "only say what would be done", .set = into(dry_run_)},
        {.names = "--redact",
         .help = "take keys, tokens and private keys out (this is the default)",
         .set = into(redact_)},
        {.names = "--no-redact", .help = "keep everything as it is", .set = into(no_redact_)},
    };
  }

  Outcome run(Context& context) override {
    if (redact_ && no_redact_) return wrong_usage("--redact and --no-redact exclude each other");
    if (agent_) SKEIN_TRY(check_agent_id(*agent_));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    if (settings.untrusted_redaction && !no_redact_) {
      return tl::unexpected<Failure>(
          Error{ErrorCode::kInvalid,
                settings.config_file->string() +
                    ": \"redact\" is not trusted, and an import without its rules could keep "
                    "secrets; " +
                    how_to_trust() + ", or give --no-redact"});
    }
    auto redactor = settled_redactor(settings);
    if (!redactor) return wrong_usage(redactor.error().message);
    SKEIN_ASSIGN(const auto plans, plan_import(paths_));

    Progress progress("importing");
    ImportOutput output{.dry_run = dry_run_};
    ImportOptions options;
    options.redactor = no_redact_ ? nullptr : &*redactor;
    options.agent = agent_;
    options.default_agent = settings.default_agent;
    options.dry_run = dry_run_;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    options.problem = [&](const FileProblem& problem) {
      if (context.json()) {
        output.problems.push_back(problem_json(problem));
      } else {
        progress.clear();
        print_notice(problem_text(problem));
      }
    };
    SKEIN_ASSIGN_OR_FAIL(const auto store, open(context, settings));
    SKEIN_ASSIGN(const ImportTotals totals, import_planned(plans, *store, settings, options));
    progress.clear();
    output.default_agent = agent_.value_or(settings.default_agent);
    output.trust_command = trust_command(settings, settings.store_url);
    print_import(context, totals, output);
    if (totals.report.failed()) return kExitRefused;
    return totals.report.conflicts() ? kExitConflict : kExitDone;
  }

 private:
  // A dry run makes no store.
  tl::expected<std::unique_ptr<Store>, Failure> open(Context& context, const Settings& settings) {
    if (!dry_run_ || store_exists(settings.store_url)) return context.open(IfMissing::kCreate);
    SKEIN_ASSIGN(auto store, open_store("memory:"));
    return store;
  }

  std::vector<std::string> paths_;
  std::optional<std::string> agent_;
  bool dry_run_ = false;
  bool redact_ = false;
  bool no_redact_ = false;
};

}  // namespace

std::unique_ptr<Command> import_command() { return std::make_unique<Import>(); }

}  // namespace skein
