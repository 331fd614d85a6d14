#include <fmt/format.h>

#include "api/usage.h"
#include "cli/arguments.h"
#include "cli/chat.h"
#include "cli/context.h"
#include "cli/table.h"
#include "core/try.h"
#include "skein/usage.h"

namespace skein {
namespace {

std::vector<std::string> cells(const std::string& name, const UsageTotals& totals) {
  return {name,
          std::to_string(totals.runs),
          std::to_string(totals.turns),
          std::to_string(totals.input_tokens),
          std::to_string(totals.output_tokens),
          std::to_string(totals.cache_read_tokens),
          fmt::format("{:.4f}", totals.cost_usd),
          fmt::format("{:.1f}", totals.duration_ms / 1000)};
}

class Usage : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "usage",
            .summary = "print what runs, summaries and titles cost, by agent, day, model or thread",
            .examples =
                "  skein usage\n"
                "  skein usage --by day --since 7d\n"
                "  skein usage --by model --agent support --json\n",
            .details =
                "Days are those of UTC. What a fork shares with its parent counts once, and what "
                "deleted threads cost still counts."};
  }

  std::vector<Argument> arguments() override {
    return {
        with_choices<UsageBy>(
            {.names = "--by", .value_name = "WHAT", .help = "what to add up by (default agent)"},
            {{"agent", UsageBy::kAgent},
             {"day", UsageBy::kDay},
             {"model", UsageBy::kModel},
             {"thread", UsageBy::kThread}},
            by_),
        {.names = "--agent",
         .value_name = "A",
         .help = "runs of this agent only",
         .set = into(query_.agent_id)},
        {.names = "--since",
         .value_name = "TIME",
         .help = "from then on: ISO 8601, a date, or how long ago (7d, 12h)",
         .set = into_time(query_.since)},
        {.names = "--until",
         .value_name = "TIME",
         .help = "before then",
         .set = into_time(query_.until)}};
  }

  Outcome run(Context& context) override {
    query_.by = by_.value_or(UsageBy::kAgent);
    UsageReport report;
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    if (store_exists(settings.store_url)) {
      SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
      SKEIN_ASSIGN(report, usage_report(*store, query_));
    }
    if (report.unreadable > 0) {
      print_notice(fmt::format("{} record(s) are no usage and do not count", report.unreadable));
    }
    if (context.json()) {
      context.out().write(usage_json(report, query_.by) + "\n");
    } else {
      print_table(context, report);
    }
    return kExitDone;
  }

 private:
  void print_table(Context& context, const UsageReport& report) const {
    std::string first = to_string(query_.by);
    for (char& c : first) c = static_cast<char>(c - 'a' + 'A');
    Table table(context, {first, "RUNS", "TURNS", "INPUT", "OUTPUT", "CACHED", "USD", "SECONDS"});
    for (const UsageRow& row : report.rows) {
      std::string name = row.name.empty() ? "(not known)" : row.name;
      if (row.gone) name += " (gone)";
      table.add(cells(name, row.totals), "");
    }
    if (report.rows.size() > 1) table.add(cells("all", report.all), "");
    table.print();
  }

  UsageQuery query_;
  std::optional<UsageBy> by_;
};

}  // namespace

std::unique_ptr<Command> usage_command() { return std::make_unique<Usage>(); }

}  // namespace skein
