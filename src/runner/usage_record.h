// Records of what calls of engines cost, in the collection `usage`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/engine.h"
#include "skein/ids.h"
#include "skein/store.h"

namespace skein {

inline constexpr std::string_view kUsageRecords = "usage";

// Adds what is known; one turn, unless `more` says otherwise.
void add_usage(EngineUsage& sum, const EngineUsage& more);

struct UsageEntry {
  Timestamp at;
  std::string agent_id;
  ThreadId thread;
  EngineCost cost{};
  std::string purpose{};  // "summary" or "title"; empty: a run
};

// In the fields that other programs know; nothing when no metric is known.
std::optional<std::string> usage_json(const UsageEntry& entry);

// Of a call beside runs, under a key of its own; nothing is written when no metric is known.
Result<void> record_usage(Store& store, const UsageEntry& entry, IdSource& ids);

// Whether that many runs ended with a record of this purpose.
std::uint64_t runs_of_purpose(std::string_view purpose);

}  // namespace skein
