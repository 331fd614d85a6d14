#include "runner/usage_record.h"

#include <fmt/format.h>

#include "core/json_object.h"
#include "core/try.h"
#include "store/record_access.h"

namespace skein {
namespace {

template <class T>
void add(std::optional<T>& sum, const std::optional<T>& more) {
  if (more) sum = sum.value_or(T{}) + *more;
}

}  // namespace

void add_usage(EngineUsage& sum, const EngineUsage& more) {
  add(sum.input_tokens, more.input_tokens);
  add(sum.output_tokens, more.output_tokens);
  add(sum.cache_read_tokens, more.cache_read_tokens);
  add(sum.cost_usd, more.cost_usd);
  sum.turns = sum.turns.value_or(0) + more.turns.value_or(1);
}

std::optional<std::string> usage_json(const UsageEntry& entry) {
  const EngineUsage& usage = entry.cost.usage;
  if (!usage.input_tokens && !usage.output_tokens && !usage.cache_read_tokens && !usage.cost_usd &&
      !usage.turns) {
    return std::nullopt;
  }
  const auto number = [](auto value) {
    std::string text;
    append_json_number(text, value);
    return text;
  };
  JsonObject object;
  object.add("timestamp", entry.at.str()).add("agentId", entry.agent_id);
  object.add("threadId", entry.thread.str());
  object.add_json("inputTokens", number(usage.input_tokens.value_or(0)));
  object.add_json("outputTokens", number(usage.output_tokens.value_or(0)));
  object.add_json("cacheReadTokens", number(usage.cache_read_tokens.value_or(0)));
  object.add_json("costUsd", number(usage.cost_usd.value_or(0)));
  object.add_json("durationMs", number(entry.cost.duration_ms));
  object.add_json("turns", number(usage.turns.value_or(0)));
  if (!entry.cost.model.empty()) object.add("model", entry.cost.model);
  if (!entry.purpose.empty()) object.add("purpose", entry.purpose);
  return object.str();
}

Result<void> record_usage(Store& store, const UsageEntry& entry, IdSource& ids) {
  auto json = usage_json(entry);
  if (!json) return {};
  const RecordWrite write = put_record(
      kUsageRecords, fmt::format("{}-{:016x}", entry.purpose, ids.next()), std::move(*json));
  SKEIN_TRY(store.write({&write, 1}));
  return {};
}

std::uint64_t runs_of_purpose(std::string_view purpose) {
  return purpose == "summary" || purpose == "title" ? 0 : 1;
}

}  // namespace skein
