#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "api/threads.h"
#include "api/transfer/checkpoint_import.h"
#include "api/transfer/export.h"
#include "api/transfer/import.h"
#include "api/transfer/items.h"
#include "api/transfer/sources.h"
#include "api/work/place.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output_file.h"
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
        .summary = "take threads from files into the store",
        .examples =
            "  skein import ~/agents\n"
            "  skein import ~/agents/support ~/old/a1b2c3d4e5f6.jsonl --dry-run\n"
            "  skein import backup.jsonl --no-redact --json\n",
        .details =
            "PATH is a folder of agents (AGENT/threads/ID.jsonl), the folder of one agent, one "
            "thread file, or what\n`skein export` wrote; or a workspace whose checkpoints "
            "(workspace/threads/, workspace/checkpoints/) and work\nitems (.gitmem/threads.json) "
            "to take into this one. The files are only read. Doing it again "
            "imports only what is new: threads that are\nthere get the events that they lack. "
            "Credentials in the text are replaced by [redacted:KIND].\nThe exit code is 1 if a "
            "line "
            "or file could not be taken, and 4 if threads differ from those in the store."};
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
        {.names = "--dry-run", .help = "only say what would be done", .set = into(dry_run_)},
        {.names = "--redact",
         .help = "take keys, tokens and private keys out (this is the default)",
         .set = into(redact_)},
        {.names = "--no-redact", .help = "keep everything as it is", .set = into(no_redact_)},
    };
  }

  Outcome run(Context& context) override {
    if (redact_ && no_redact_) return wrong_usage("--redact and --no-redact exclude each other");
    SKEIN_TRY(find_files());

    Progress progress("importing");
    std::vector<std::string> problems;
    ImportOptions options;
    options.redact = !no_redact_;
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
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
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
      const auto imported = import_items(items, file, options.redact, dry_run_);
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
    context.out().write(text + "\n");
  }

  std::vector<std::string> paths_;
  std::vector<std::filesystem::path> thread_files_;
  std::vector<std::filesystem::path> item_files_;
  std::vector<std::filesystem::path> checkpoint_folders_;
  bool dry_run_ = false;
  bool redact_ = false;
  bool no_redact_ = false;
};

enum class Format { kJsonl, kMarkdown };

class Export : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "export",
        .summary = "write threads as JSONL for programs or as Markdown for people",
        .examples =
            "  skein export a1b2c3d4e5f6 --format markdown | less\n"
            "  skein export --all --output backup.jsonl\n"
            "  skein export --agent support --output folder/\n",
        .details =
            "JSONL has the manifest on line 1 and an event a line; `skein import` reads it without "
            "loss.\nWith --output DIR/ every thread gets a file of its own, "
            "DIR/AGENT/threads/ID.jsonl "
            "or DIR/AGENT/ID.md;\nas JSONL, that folder is also one that --store jsonl:DIR opens."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "ID",
         .value_name = "ID",
         .help = "the threads: their 12 hex digits, the UUID form, or their aliases",
         .set = into(threads_),
         .repeated = true},
        {.names = "--all", .help = "all threads", .set = into(all_)},
        {.names = "--agent",
         .value_name = "A",
         .help = "all threads of this agent",
         .set = into(agent_)},
        with_choices<Format>(
            {.names = "--format", .value_name = "FORMAT", .help = "what to write (default jsonl)"},
            {{"jsonl", Format::kJsonl}, {"markdown", Format::kMarkdown}}, format_),
        {.names = "--output",
         .value_name = "PATH",
         .help = "a file, or a folder if it is one or ends in / (default: standard output)",
         .set = into(output_),
         .is_path = true},
    };
  }

  Outcome run(Context& context) override {
    const int selections = (threads_.empty() ? 0 : 1) + (all_ ? 1 : 0) + (agent_ ? 1 : 0);
    if (selections != 1) return wrong_usage("say which threads: IDs, --agent or --all");
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    std::error_code error;
    const bool to_folder =
        output_ && (output_->ends_with('/') || std::filesystem::is_directory(*output_, error));
    if (to_folder) {
      SKEIN_TRY(for_each_thread(*store, [&](const Manifest& manifest) -> Result<void> {
        SKEIN_ASSIGN(auto file, OutputFile::create(file_of(manifest)));
        SKEIN_TRY(write(*store, manifest, ThreadIdIn::kFileName, file->out()));
        return file->commit();
      }));
    } else if (output_) {
      SKEIN_ASSIGN(auto file, OutputFile::create(*output_));
      SKEIN_TRY(write_all(*store, file->out()));
      SKEIN_TRY(file->commit());
    } else {
      SKEIN_TRY(write_all(*store, context.out()));
      return finish(context, false);
    }
    return finish(context, true);
  }

 private:
  Result<void> for_each_thread(Store& store,
                               const std::function<Result<void>(const Manifest&)>& write_thread) {
    Progress progress("exporting");
    const auto counted = [&](const Manifest& manifest) -> Result<void> {
      SKEIN_TRY(write_thread(manifest));
      progress.update(++count_, 0);
      return {};
    };
    for (const ThreadRef& thread : threads_) {
      SKEIN_ASSIGN(const Manifest manifest, find_thread(store, thread));
      SKEIN_TRY(counted(manifest));
    }
    if (!threads_.empty()) return {};
    ListQuery query;
    query.agent_id = agent_;
    query.order = ListOrder::kCreatedOldestFirst;
    Result<void> written;
    SKEIN_TRY(list_threads(store, query, std::numeric_limits<std::uint64_t>::max(),
                           [&](const Manifest& manifest) {
                             written = counted(manifest);
                             return written.has_value();
                           }));
    return written;
  }

  Result<void> write_all(Store& store, Output& out) {
    return for_each_thread(store, [&](const Manifest& manifest) -> Result<void> {
      if (count_ > 0 && format() == Format::kMarkdown) out.write("\n---\n\n");
      return write(store, manifest, ThreadIdIn::kLine, out);
    });
  }

  Result<void> write(Store& store, const Manifest& manifest, ThreadIdIn where, Output& out) {
    if (format() == Format::kMarkdown) {
      return export_markdown(store, manifest, [&](std::string_view piece) -> Result<void> {
        out.write_stored(piece);
        return out.status();
      });
    }
    SKEIN_ASSIGN(const std::uint64_t left_out,
                 export_jsonl(store, manifest, where, [&](std::string_view piece) -> Result<void> {
                   out.write(piece);
                   return out.status();
                 }));
    if (left_out > 0) {
      print_notice(
          fmt::format("thread {}: {} unreadable events left out", manifest.id.str(), left_out));
    }
    return {};
  }

  Outcome finish(Context& context, bool say_so) const {
    if (say_so && context.json()) {
      context.out().write(
          JsonObject().add("exported", count_).add("output", printable(*output_)).str() + "\n");
    } else if (say_so) {
      context.out().write(fmt::format("{} exported to {}\n", count_, *output_));
    }
    return kExitDone;
  }

  Format format() const { return format_.value_or(Format::kJsonl); }

  std::filesystem::path file_of(const Manifest& manifest) const {
    const std::filesystem::path agent = std::filesystem::path(*output_) / manifest.agent_id;
    return format() == Format::kJsonl ? agent / "threads" / (manifest.id.str() + ".jsonl")
                                      : agent / (manifest.id.str() + ".md");
  }

  std::vector<ThreadRef> threads_;
  bool all_ = false;
  std::optional<std::string> agent_;
  std::optional<Format> format_;
  std::optional<std::string> output_;
  std::uint64_t count_ = 0;
};

}  // namespace

CommandGroup transfer_commands() {
  CommandGroup group;
  group.commands.push_back(std::make_unique<Import>());
  group.commands.push_back(std::make_unique<Export>());
  return group;
}

}  // namespace skein
