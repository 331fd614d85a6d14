#include "skein/usage.h"

#include <map>
#include <utility>

#include "core/json_fields.h"
#include "core/try.h"
#include "runner/usage_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

struct Entry {
  Timestamp at;
  std::string agent_id;
  std::string thread;
  std::string model;
  UsageTotals totals;
};

std::optional<Entry> parse_entry(const Record& record) {
  if (!validate_json(record.bytes, "usage")) return std::nullopt;
  JsonFields fields(record.bytes);
  const auto at = fields.take_time("timestamp");
  const auto agent = fields.take_string("agentId");
  if (!at || !agent) return std::nullopt;
  Entry entry{.at = *at, .agent_id = *agent, .thread = {}, .model = {}, .totals = {}};
  entry.thread = fields.take_string("threadId").value_or("");
  entry.model = fields.take_string("model").value_or("");
  entry.totals.runs = runs_of_purpose(fields.take_string("purpose").value_or(""));
  entry.totals.input_tokens = fields.take_int("inputTokens").value_or(0);
  entry.totals.output_tokens = fields.take_int("outputTokens").value_or(0);
  entry.totals.cache_read_tokens = fields.take_int("cacheReadTokens").value_or(0);
  entry.totals.cost_usd = fields.take("costUsd", json_to_double).value_or(0);
  entry.totals.duration_ms = fields.take("durationMs", json_to_double).value_or(0);
  entry.totals.turns = fields.take_int("turns").value_or(0);
  return entry;
}

std::string name_of(const Entry& entry, UsageBy by) {
  switch (by) {
    case UsageBy::kAgent:
      return entry.agent_id;
    case UsageBy::kDay:
      return entry.at.str().substr(0, 10);
    case UsageBy::kModel:
      return entry.model;
    case UsageBy::kThread:
      break;
  }
  return entry.thread;
}

bool matches(const UsageQuery& query, const Entry& entry) {
  return (!query.agent_id || *query.agent_id == entry.agent_id) &&
         (!query.since || entry.at >= *query.since) && (!query.until || entry.at < *query.until);
}

}  // namespace

UsageTotals& UsageTotals::operator+=(const UsageTotals& more) {
  runs += more.runs;
  input_tokens += more.input_tokens;
  output_tokens += more.output_tokens;
  cache_read_tokens += more.cache_read_tokens;
  cost_usd += more.cost_usd;
  duration_ms += more.duration_ms;
  turns += more.turns;
  return *this;
}

Result<UsageReport> usage_report(Store& store, const UsageQuery& query) {
  UsageReport report;
  std::map<std::pair<std::string, std::string>, UsageTotals> sums;
  SKEIN_TRY(scan_prefix(store, kUsageRecords, "", [&](const Record& record) {
    const auto entry = parse_entry(record);
    if (!entry) {
      ++report.unreadable;
    } else if (matches(query, *entry)) {
      const std::string part = query.split ? name_of(*entry, *query.split) : std::string();
      sums[{name_of(*entry, query.by), part}] += entry->totals;
      report.all += entry->totals;
    }
    return true;
  }));
  for (const auto& [names, totals] : sums) {
    const auto& [name, part] = names;
    UsageRow row{.name = name, .part = part, .totals = totals};
    if (query.by == UsageBy::kThread) {
      const auto id = ThreadId::parse(name);
      if (id) {
        SKEIN_ASSIGN(const auto thread, store.get(*id));
        row.gone = !thread;
      }
    }
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace skein
