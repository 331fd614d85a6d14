#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/private_files.h"
#include "api/settings.h"
#include "api/signing_secret.h"
#include "api/transfer/migrate.h"
#include "api/unsigned_records.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

std::string contents_json(const StoreContents& contents) {
  return JsonObject()
      .add("threads", contents.threads)
      .add("events", contents.events)
      .add("records", contents.records)
      .add("sha256", contents.sha256)
      .str();
}

class Migrate : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "migrate",
            .summary = "copy everything from one store to another, and compare them",
            .examples =
                "  skein migrate --from sqlite:.skein/skein.db --to postgres://db.example/skein\n"
                "  skein migrate --from postgres://db.example/skein --to jsonl:backup\n",
            .details =
                "Threads keep their ids, times, fields, events and keys; records of all "
                "collections are copied, too. The\nsearch index is not: `skein backfill` makes it "
                "anew. What is there already stays as it is, so that an\ninterrupted migration "
                "goes on when it is started again. Stop what writes to either store meanwhile.\n"
                "In the end both are read in full and compared by count and checksum. The exit "
                "code is 1 when they differ.\nAPI keys, triggers, tasks and open runs arrive "
                "unsigned, and triggers disabled: in a store inside the workspace\nthey have no "
                "effect until `skein trust` signs them. Other stores need no signatures: `migrate` "
                "copies nothing there\nwhile FROM has records that are not signed. It lists them. "
                "Those of a workspace are signed by `skein trust` first;\nthose of a file in no "
                "workspace are copied with --with-records."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--from",
             .value_name = "URL",
             .help = "the store to copy",
             .set = into(from_),
             .required = true},
            {.names = "--to",
             .value_name = "URL",
             .help = "the store to copy to; made when it is not there",
             .set = into(to_),
             .required = true},
            {.names = "--with-records",
             .value_name = "DIGEST",
             .help = "copy API keys, triggers, tasks and open runs of a file in no workspace, if "
                     "they are those of the refusal that named this digest",
             .set = into(with_records_)}};
  }

  Outcome run(Context& context) override {
    if (from_ == to_) return wrong_usage("--from and --to must be different stores");
    if (!store_exists(from_))
      return tl::unexpected<Failure>(
          Error{ErrorCode::kNotFound, "there is no store at " + without_password(from_)});
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const auto from, open_store(from_));
    SKEIN_TRY(check_records(settings, *from));
    const auto warning = commit_warning(to_);
    SKEIN_ASSIGN(const auto to, open_store(to_));
    if (warning) print_notice(printable(*warning));
    Progress progress("migrating");
    MigrateOptions options;
    options.progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    options.problem = [&](const std::string& problem) {
      progress.clear();
      print_notice(problem);
    };
    SKEIN_ASSIGN(const MigrateSummary summary, migrate_store(*from, *to, options));
    progress.clear();
    if (const auto signer = signer_of_store(settings, to_)) {
      SKEIN_ASSIGN(const auto inert, list_unsigned_records(*to, *signer));
      inert_ = inert.size();
      trust_ = trust_command(settings, to_);
    }
    print(context, summary);
    return summary.verified() ? kExitDone : kExitRefused;
  }

 private:
  // Says what each record would do before it refuses them.
  Result<void> check_records(const Settings& settings, Store& from) const {
    SKEIN_ASSIGN(const auto records, copied_unsigned(settings, from_, from, to_));
    auto checked = check_copied_records(settings, from_, to_, records, with_records_);
    if (checked) return {};
    for (const UnsignedRecord& record : records) {
      print_notice(visible_line(record.description));
    }
    return checked;
  }

  void print_json(Context& context, const MigrateSummary& summary) const {
    JsonObject object;
    object.add("threads", summary.threads).add("events", summary.events);
    object.add("records", summary.records).add("problems", summary.problems);
    object.add_json("from", contents_json(summary.from));
    object.add_json("to", contents_json(summary.to)).add("verified", summary.verified());
    object.add("disabled", summary.disabled).add("unsigned", inert_);
    if (inert_ > 0) object.add("trust", printable(trust_));
    context.out().write(object.str() + "\n");
  }

  void print(Context& context, const MigrateSummary& summary) const {
    if (context.json()) return print_json(context, summary);
    std::string text = fmt::format("copied     {} threads, {} events, {} records\n",
                                   summary.threads, summary.events, summary.records);
    const auto line = [&](const char* which, const StoreContents& contents) {
      text += fmt::format("{}       {} threads, {} events, {} records, sha256 {}\n", which,
                          contents.threads, contents.events, contents.records, contents.sha256);
    };
    line("from", summary.from);
    line("to  ", summary.to);
    if (summary.problems > 0) text += fmt::format("problems   {}\n", summary.problems);
    text += summary.verified() ? "they are the same\n" : "they DIFFER\n";
    if (summary.disabled > 0) {
      text += fmt::format("{} triggers are disabled; enable them with: skein trigger enable ID\n",
                          summary.disabled);
    }
    if (inert_ > 0) {
      text += fmt::format("{} records are not signed and have no effect; review them with:\n  {}\n",
                          inert_, trust_);
    }
    context.out().write(text);
  }

  std::string from_;
  std::string to_;
  std::optional<std::string> with_records_;
  std::uint64_t inert_ = 0;  // records that are not signed, in a store that needs signatures
  std::string trust_;        // the command that signs them
};

}  // namespace

std::unique_ptr<Command> migrate_command() { return std::make_unique<Migrate>(); }

}  // namespace skein
