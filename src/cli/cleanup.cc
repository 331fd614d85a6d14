#include "api/cleanup.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "api/checkpoints.h"
#include "api/recall.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/table.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/retention.h"

namespace skein {
namespace {

// What stays in the index now, the next backfill removes.
void forget_threads(const Settings& settings, Store* store, const std::vector<ThreadId>& threads) {
  if (store == nullptr) return;
  if (auto forgotten = forget_in_index(settings, *store, threads); !forgotten) {
    print_notice("index: " + forgotten.error().message);
  }
}

std::string due_json(const Due& due, std::string_view outcome) {
  return JsonObject()
      .add("kind", due.kind)
      .add("id", due.id)
      .add("agentId", due.agent_id)
      .add("dueSince", due.since.str())
      .add("reason", due.reason)
      .add("outcome", outcome)
      .str();
}

std::string purged_json(const PurgedCheckpoint& checkpoint) {
  return JsonObject()
      .add("checkpointId", checkpoint.id)
      .add("title", checkpoint.title)
      .add("createdAt", checkpoint.created_at.str())
      .add("at", checkpoint.purged_at.str())
      .add("reason", kPurgeReason)
      .str();
}

// What was removed: its kind, id, agent and events; when, and why.
struct Gone {
  Timestamp at;
  std::vector<std::string> cells;
  std::string reason;
  std::string json;
};

class Cleanup : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "cleanup",
        .summary = "remove expired threads and checkpoints",
        .examples =
            "  skein cleanup --dry-run\n"
            "  skein cleanup\n"
            "  skein cleanup --history --json\n",
        .details =
            "Threads are due when they have been archived for as many days as `skein thread "
            "archive --retention-days`\nsaid, and never without that. Nothing else removes "
            "them. What was restored in the meantime stays.\nCheckpoints are due when they were "
            "made automatically, and 14 days ago."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--dry-run",
             .help = "list what would be removed, and remove nothing",
             .set = into(dry_run_)},
            {.names = "--history",
             .help = "print what was removed earlier, and why",
             .set = into(history_)}};
  }

  Outcome run(Context& context) override {
    if (dry_run_ && history_) return wrong_usage("--dry-run and --history exclude each other");
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    std::unique_ptr<Store> store;
    if (store_exists(settings.store_url)) {
      SKEIN_ASSIGN_OR_FAIL(store, context.open(IfMissing::kRefuse));
    }
    return history_ ? print_history(context, store.get(), settings)
                    : clean(context, store.get(), settings);
  }

 private:
  Outcome clean(Context& context, Store* store, const Settings& settings) const {
    const Timestamp now = system_clock().now();
    SKEIN_ASSIGN(const std::vector<Due> all, find_due(store, settings, now));
    Table table(context, {"KIND", "ID", "AGENT", "DUE", "OUTCOME", "WHY"});
    std::size_t removed = 0;
    std::vector<ThreadId> threads;  // forgotten together: that reads all files of vectors
    Result<bool> went = true;
    for (const Due& due : all) {
      if (!dry_run_) went = due.remove(now);
      if (!went) break;
      const std::string outcome = dry_run_ ? "is due" : *went ? "removed" : "stays";
      if (outcome == "removed") {
        ++removed;
        const auto thread = ThreadId::parse(due.id);
        if (due.kind == "thread" && thread) threads.push_back(*thread);
      }
      table.add(
          {due.kind, due.id, due.agent_id, context.style().time(due.since), outcome, due.reason},
          due_json(due, outcome));
    }
    forget_threads(settings, store, threads);
    if (!went) return tl::unexpected(went.error());
    table.print();
    if (!context.json()) {
      context.out().write(dry_run_ ? fmt::format("{} due; nothing was removed\n", all.size())
                                   : fmt::format("{} of {} removed\n", removed, all.size()));
    }
    return kExitDone;
  }

  // What was removed, the longest ago first.
  Outcome print_history(Context& context, Store* store, const Settings& settings) const {
    std::vector<Gone> gone;
    if (store != nullptr) {
      SKEIN_TRY(read_removals(*store, [&gone](const Removal& removal) {
        gone.push_back(
            {removal.at,
             {"thread", removal.thread.str(), removal.agent_id, std::to_string(removal.events)},
             removal.reason,
             to_json(removal)});
        return true;
      }));
    }
    SKEIN_ASSIGN(const auto checkpoints, workspace_checkpoints(settings).purged());
    for (const PurgedCheckpoint& checkpoint : checkpoints) {
      gone.push_back({checkpoint.purged_at,
                      {"checkpoint", checkpoint.id, "", ""},
                      std::string(kPurgeReason),
                      purged_json(checkpoint)});
    }
    std::sort(gone.begin(), gone.end(), [](const Gone& a, const Gone& b) {
      return std::tie(a.at, a.cells) < std::tie(b.at, b.cells);
    });
    Table table(context, {"KIND", "ID", "AGENT", "EVENTS", "REMOVED", "WHY"});
    for (Gone& each : gone) {
      each.cells.push_back(context.style().time(each.at));
      each.cells.push_back(each.reason);
      table.add(std::move(each.cells), std::move(each.json));
    }
    table.print();
    return kExitDone;
  }

  bool dry_run_ = false;
  bool history_ = false;
};

}  // namespace

std::unique_ptr<Command> cleanup_command() { return std::make_unique<Cleanup>(); }

}  // namespace skein
