#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "api/transfer/checkpoint_import.h"
#include "api/transfer/import.h"
#include "api/transfer/items.h"
#include "api/transfer/sources.h"
#include "api/work/place.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

std::string problem_text(const FileProblem& problem) {
  // Messages about a whole file may begin with its place already.
  const std::string file = problem.file.string();
  if (problem.line == 0 && problem.message.starts_with(file)) return problem.message;
  const std::string line = problem.line > 0 ? fmt::format(":{}", problem.line) : "";
  return fmt::format("{}{}: {}", file, line, problem.message);
}

std::string problem_json(const FileProblem& problem) {
  JsonObject object;
  object.add("file", printable(problem.file.string()));
  if (problem.line > 0) object.add("line", problem.line);
  return object.add("message", printable(problem.message)).str();
}

class Import : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "import",
        .summary = "take threads, transcripts, work items and checkpoints from files",
        .examples =
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
            "  a workspace whose checkpoints (workspace/threads/, workspace/checkpoints/) and work "
            "items\n  (.gitmem/threads.json) to take into this one.\n"
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
         .help = "whose the threads of transcripts are (default: claude-code, codex, or the "
                 "configuration's)",
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
    SKEIN_TRY(find_files());

    Progress progress("importing");
    std::vector<std::string> problems;
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
        problems.push_back(problem_json(problem));
      } else {
        progress.clear();
        print_notice(problem_text(problem));
      }
    };
    ImportSummary summary;
    std::uint64_t items = 0;
    if (!thread_files_.empty() || !item_files_.empty()) {
      SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kCreate));
      SKEIN_ASSIGN(summary, import_threads(*store, thread_files_, options));
      items = import_all_items(*store, settings, options, summary);
    }
    CheckpointImportSummary checkpoints;
    for (const auto& folder : checkpoint_folders_) {
      SKEIN_ASSIGN(const auto more, import_checkpoints(settings, folder, options));
      checkpoints += more;
    }
    progress.clear();
    print(context, summary, checkpoints, items, problems);
    if (summary.failed + summary.unreadable + checkpoints.unreadable > 0) return kExitRefused;
    return summary.conflicts + checkpoints.conflicts > 0 ? kExitConflict : kExitDone;
  }

 private:
  // A path that has items or checkpoints need not have threads.
  Result<void> find_files() {
    for (const std::string& path : paths_) {
      const auto items = find_item_file(path);
      if (items) item_files_.push_back(*items);
      if (items && *items == path) continue;
      const bool has_checkpoints = holds_checkpoints(path);
      if (has_checkpoints) checkpoint_folders_.emplace_back(path);
      const auto found = find_thread_files(path);
      if (found) {
        thread_files_.insert(thread_files_.end(), found->begin(), found->end());
      } else if (!items && !has_checkpoints) {
        return tl::unexpected(found.error());
      }
    }
    return {};
  }

  // Answers how many there are now that were not there before.
  std::uint64_t import_all_items(Store& store, const Settings& settings,
                                 const ImportOptions& options, ImportSummary& summary) const {
    if (item_files_.empty()) return 0;
    WorkItems items(store, work_place(settings), system_clock(), random_ids());
    std::uint64_t added = 0;
    for (const std::filesystem::path& file : item_files_) {
      const auto imported = import_items(items, file, options.redactor, dry_run_);
      if (imported) {
        added += imported->added;
        summary.redacted += imported->redacted;
      } else {
        options.problem({.file = file, .line = 0, .message = imported.error().message});
        ++summary.failed;
      }
    }
    return added;
  }

  static std::string checkpoints_json(const CheckpointImportSummary& summary) {
    return JsonObject()
        .add("imported", summary.imported)
        .add("present", summary.present)
        .add("redacted", summary.redacted)
        .add("unreadable", summary.unreadable)
        .add("conflicts", summary.conflicts)
        .str();
  }

  static std::string ignored_json(const ImportSummary& summary) {
    JsonObject kinds;
    for (const auto& [kind, count] : summary.ignored) kinds.add(kind, count);
    return kinds.str();
  }

  static std::string ignored_text(const ImportSummary& summary) {
    std::string text;
    for (const auto& [kind, count] : summary.ignored) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, visible_line(kind));
    }
    return text.empty() ? "" : "ignored: " + text + "\n";
  }

  void print(Context& context, const ImportSummary& summary,
             const CheckpointImportSummary& checkpoints, std::uint64_t items,
             const std::vector<std::string>& problems) const {
    if (context.json()) {
      JsonObject object;
      object.add("dryRun", dry_run_).add("imported", summary.imported);
      object.add("importedEvents", summary.imported_events).add("present", summary.present);
      object.add("extended", summary.extended).add("newEvents", summary.new_events);
      object.add("redacted", summary.redacted).add("unreadable", summary.unreadable);
      object.add("conflicts", summary.conflicts).add("failed", summary.failed);
      object.add_json("ignored", ignored_json(summary));
      object.add_json("checkpoints", checkpoints_json(checkpoints)).add("items", items);
      object.add_json("problems", fmt::format("[{}]", fmt::join(problems, ",")));
      context.out().write(object.str() + "\n");
      return;
    }
    std::string text = dry_run_ ? "would be: " : "";
    text += fmt::format("{} imported ({} events), {} already there, {} new events for {} existing",
                        summary.imported, summary.imported_events, summary.present,
                        summary.new_events, summary.extended);
    const auto add = [&](std::uint64_t count, std::string_view what) {
      if (count > 0) text += fmt::format(", {} {}", count, what);
    };
    add(items, "work items");
    add(summary.redacted, "credentials redacted");
    add(summary.unreadable, "lines unreadable");
    add(summary.conflicts, "in conflict with the store");
    add(summary.failed, "failed");
    add(checkpoints.imported, "checkpoints imported");
    add(checkpoints.present, "checkpoints already there");
    add(checkpoints.redacted, "credentials redacted in them");
    add(checkpoints.unreadable, "files that are no checkpoints");
    add(checkpoints.conflicts, "checkpoints in conflict with those here");
    context.out().write(text + "\n" + ignored_text(summary));
  }

  std::vector<std::string> paths_;
  std::vector<std::filesystem::path> thread_files_;
  std::vector<std::filesystem::path> item_files_;
  std::vector<std::filesystem::path> checkpoint_folders_;
  std::optional<std::string> agent_;
  bool dry_run_ = false;
  bool redact_ = false;
  bool no_redact_ = false;
};

}  // namespace

std::unique_ptr<Command> import_command() { return std::make_unique<Import>(); }

}  // namespace skein
