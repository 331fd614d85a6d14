// What runs cost, added up.
//
// Each run that came far enough to cost something left one record in the collection `usage`
// (usage.jsonl in a `jsonl:` store, where other programs' lines count too). So did each summary and
// each title that an engine wrote, or tried to; these cost something and are no runs. A fork copies
// events and no such records, so that what it shares with its parent counts once. Records outlive
// their threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skein/clock.h"
#include "skein/store.h"

namespace skein {

enum class UsageBy { kAgent, kDay, kModel, kThread };

struct UsageQuery {
  UsageBy by = UsageBy::kAgent;
  std::optional<UsageBy> split{};  // rows are those of `by`, each divided by this
  std::optional<std::string> agent_id{};
  std::optional<Timestamp> since{};  // inclusive
  std::optional<Timestamp> until{};  // exclusive
};

struct UsageTotals {
  std::uint64_t runs = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_read_tokens = 0;
  double cost_usd = 0;
  double duration_ms = 0;
  std::int64_t turns = 0;

  UsageTotals& operator+=(const UsageTotals& more);
};

struct UsageRow {
  std::string name;    // agent, day (2026-01-23, UTC), model or thread; empty: not known
  std::string part{};  // with a split: its name
  UsageTotals totals;
  bool gone = false;  // kThread: it was deleted
};

struct UsageReport {
  std::vector<UsageRow> rows;  // days in order, others by name; parts by name
  UsageTotals all;
  std::uint64_t unreadable = 0;  // records that are no usage
};

Result<UsageReport> usage_report(Store& store, const UsageQuery& query);

}  // namespace skein
