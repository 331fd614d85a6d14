#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "api/threads.h"
#include "api/transfer/export.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output_file.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

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
      context.out().write_stored(fmt::format("{} exported to {}\n", count_, printable(*output_)));
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
  group.commands.push_back(import_command());
  group.commands.push_back(std::make_unique<Export>());
  group.commands.push_back(migrate_command());
  group.commands.push_back(redact_command());
  return group;
}

}  // namespace skein
