#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/show_text.h"
#include "cli/thread_commands.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/thread_manager.h"

namespace skein {
namespace {

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print the threads, the last updated first",
            .examples =
                "  skein thread list --agent support --status active\n"
                "  skein thread list --meta customer=42 --meta tier=gold --json\n"
                "  skein thread list --meta customer=42 --status active --count\n"
                "  skein thread list --limit 20 --order oldest\n",
            .details =
                "Prints all that match; on a terminal the first 50, unless --all. A VALUE that is "
                "JSON is compared as\nsuch: customer=42 finds the number, customer='\"42\"' the "
                "text. Where more threads follow, standard\nerror says how to go on."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "--agent",
         .value_name = "A",
         .help = "threads of this agent only",
         .set = into(query_.agent_id)},
        status_argument(query_.status),
        metadata_argument(query_.metadata),
        with_choices<ListOrder>({.names = "--order",
                                 .value_name = "ORDER",
                                 .help = "last updated, newest or oldest first (default updated)"},
                                {{"updated", ListOrder::kUpdatedNewestFirst},
                                 {"created", ListOrder::kCreatedNewestFirst},
                                 {"oldest", ListOrder::kCreatedOldestFirst}},
                                order_),
        {.names = "--limit",
         .value_name = "N",
         .help = "a page of at most so many (default: all; on a terminal 50)",
         .set = into(limit_)},
        {.names = "--after",
         .value_name = "CURSOR",
         .help = "go on where an earlier list ended",
         .set = into(query_.after)},
        {.names = "--all", .help = "all of them, on a terminal too", .set = into(all_)},
        {.names = "--count", .help = "print only how many there are", .set = into(count_)},
    };
  }

  Outcome run(Context& context) override {
    if (all_ && limit_) return wrong_usage("--all and --limit exclude each other");
    if (limit_ == 0u) return wrong_usage("--limit must be at least 1");
    if (count_ && (all_ || limit_ || !query_.after.empty())) {
      return wrong_usage("--count counts all: it goes without --all, --limit and --after");
    }
    if (query_.agent_id) {
      if (auto valid = check_agent_id(*query_.agent_id); !valid) {
        return wrong_usage(std::move(valid).error().message);
      }
    }
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    std::unique_ptr<Store> store;
    if (store_exists(settings.store_url)) {
      SKEIN_ASSIGN_OR_FAIL(store, context.open(IfMissing::kRefuse));
    }
    all_ = all_ || (!limit_ && (context.json() || !context.style().terminal));
    if (count_) return print_count(context, store.get());
    return context.json() ? print_json(context, store.get()) : print_table(context, store.get());
  }

 private:
  Result<std::string> each(Store* store, const std::function<bool(const Manifest&)>& sink) {
    if (store == nullptr) return std::string();  // nothing was ever stored
    query_.order = order_.value_or(ListOrder::kUpdatedNewestFirst);
    const std::uint64_t limit =
        all_ ? std::numeric_limits<std::uint64_t>::max() : limit_.value_or(50);
    return list_threads(*store, query_, limit, sink);
  }

  Outcome print_count(Context& context, Store* store) {
    std::uint64_t count = 0;
    if (store != nullptr) {
      SKEIN_ASSIGN(count, ThreadManager(*store).count(query_));
    }
    context.out().write(context.json() ? JsonObject().add("count", count).str() + "\n"
                                       : std::to_string(count) + "\n");
    return kExitDone;
  }

  Outcome print_json(Context& context, Store* store) {
    std::string_view separator = "[";
    SKEIN_ASSIGN(const std::string next, each(store, [&](const Manifest& manifest) {
                   context.out().write(separator);
                   context.out().write(to_json(manifest));
                   separator = ",\n ";
                   return true;
                 }));
    context.out().write(separator == "[" ? "[]\n" : "]\n");
    if (!next.empty()) print_line_to_stderr(JsonObject().add("next", next).str());
    return kExitDone;
  }

  // Rows wait for the widest agent among those before them; a long list is aligned in parts.
  Outcome print_table(Context& context, Store* store) {
    constexpr std::size_t kRowsTogether = 1000;
    std::vector<Manifest> rows;
    std::size_t width = 7;
    bool heading = true;
    const auto print_rows = [&] {
      for (const Manifest& row : rows) width = std::max(width, row.agent_id.size());
      if (heading && !rows.empty()) context.out().write(manifest_heading(width, context.style()));
      heading = false;
      for (const Manifest& row : rows) {
        context.out().write(manifest_row(row, width, context.style()));
      }
      rows.clear();
    };
    SKEIN_ASSIGN(const std::string next, each(store, [&](const Manifest& manifest) {
                   rows.push_back(manifest);
                   if (rows.size() == kRowsTogether) print_rows();
                   return true;
                 }));
    print_rows();
    SKEIN_TRY(context.out().flush());
    if (!next.empty()) print_notice("more threads follow: --after " + next);
    return kExitDone;
  }

  ListQuery query_;
  std::optional<ListOrder> order_;
  std::optional<std::uint64_t> limit_;
  bool all_ = false;
  bool count_ = false;
};

}  // namespace

std::unique_ptr<Command> thread_list_command() { return std::make_unique<List>(); }

}  // namespace skein
