#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
    return {
        .name = "migrate",
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
            "unsigned: in a store inside the workspace they have no effect\nuntil `skein "
            "trust` signs them. Other stores need no signatures: `migrate` copies nothing there "
            "while FROM is in a\nworkspace and has records that are not signed."};
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
             .required = true}};
  }

  Outcome run(Context& context) override {
    if (from_ == to_) return wrong_usage("--from and --to must be different stores");
    if (!store_exists(from_))
      return tl::unexpected<Failure>(
          Error{ErrorCode::kNotFound, "there is no store at " + without_password(from_)});
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const auto from, open_store(from_));
    SKEIN_TRY(check_copied_records(settings, from_, *from, to_));
    SKEIN_ASSIGN(const auto to, open_store(to_));
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
  void print(Context& context, const MigrateSummary& summary) const {
    if (context.json()) {
      context.out().write(JsonObject()
                              .add("threads", summary.threads)
                              .add("events", summary.events)
                              .add("records", summary.records)
                              .add("problems", summary.problems)
                              .add_json("from", contents_json(summary.from))
                              .add_json("to", contents_json(summary.to))
                              .add("verified", summary.verified())
                              .add("unsigned", inert_)
                              .str() +
                          "\n");
      return;
    }
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
    if (inert_ > 0) {
      text += fmt::format("{} records are not signed and have no effect; review them with:\n  {}\n",
                          inert_, trust_);
    }
    context.out().write(text);
  }

  std::string from_;
  std::string to_;
  std::uint64_t inert_ = 0;  // records that are not signed, in a store that needs signatures
  std::string trust_;        // the command that signs them
};

}  // namespace

std::unique_ptr<Command> migrate_command() { return std::make_unique<Migrate>(); }

}  // namespace skein
