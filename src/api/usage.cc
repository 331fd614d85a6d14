#include "api/usage.h"

#include <map>
#include <utility>

#include "core/json_array.h"
#include "core/json_object.h"

namespace skein {
namespace {

std::string number(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

JsonObject with_totals(JsonObject object, const UsageTotals& totals) {
  object.add("runs", totals.runs);
  object.add_json("inputTokens", std::to_string(totals.input_tokens));
  object.add_json("outputTokens", std::to_string(totals.output_tokens));
  object.add_json("cacheReadTokens", std::to_string(totals.cache_read_tokens));
  object.add_json("costUsd", number(totals.cost_usd));
  object.add_json("durationMs", number(totals.duration_ms));
  object.add_json("turns", std::to_string(totals.turns));
  return object;
}

}  // namespace

const char* to_string(UsageBy by) {
  switch (by) {
    case UsageBy::kDay:
      return "day";
    case UsageBy::kModel:
      return "model";
    case UsageBy::kThread:
      return "thread";
    case UsageBy::kAgent:
      break;
  }
  return "agent";
}

std::string usage_json(const UsageReport& report, UsageBy by, std::optional<UsageBy> split) {
  std::vector<std::string> rows;
  for (const UsageRow& row : report.rows) {
    JsonObject object;
    object.add(to_string(by), row.name);
    if (split) object.add(to_string(*split), row.part);
    if (row.gone) object.add("gone", true);
    rows.push_back(with_totals(std::move(object), row.totals).str());
  }
  return JsonObject()
      .add_json("rows", json_array_of(rows))
      .add_json("all", with_totals({}, report.all).str())
      .str();
}

UsageReport merged(const std::vector<UsageReport>& reports) {
  std::map<std::pair<std::string, std::string>, UsageRow> rows;
  UsageReport sum;
  for (const UsageReport& report : reports) {
    for (const UsageRow& row : report.rows) {
      UsageRow& same = rows[{row.name, row.part}];
      same.name = row.name;
      same.part = row.part;
      same.totals += row.totals;
      same.gone = same.gone || row.gone;
    }
    sum.all += report.all;
    sum.unreadable += report.unreadable;
  }
  for (auto& [names, row] : rows) sum.rows.push_back(std::move(row));
  return sum;
}

}  // namespace skein
