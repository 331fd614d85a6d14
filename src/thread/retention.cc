#include "skein/retention.h"

#include <algorithm>

#include "core/try.h"
#include "skein/limits.h"
#include "thread/removals.h"

namespace skein {
namespace {

constexpr std::int64_t kUsPerDay = 86'400'000'000;

// Nothing: never.
std::optional<Timestamp> due_at(const Manifest& manifest) {
  if (manifest.status != ThreadStatus::kArchived || !manifest.archive) return {};
  const auto& [at, days, reason] = *manifest.archive;
  if (!days || *days < 0 || *days > (Timestamp::kEnd - at.us) / kUsPerDay) return {};
  return Timestamp{at.us + *days * kUsPerDay};
}

std::string reason_of(const Archive& archive) {
  std::string reason = "archived " + archive.at.str() + ", kept for " +
                       std::to_string(*archive.retention_days) + " days";
  if (archive.reason) reason += " (" + *archive.reason + ")";
  return reason;
}

}  // namespace

Result<std::vector<DueThread>> due_threads(Store& store, Timestamp now) {
  std::vector<DueThread> due;
  ListQuery query;
  query.status = ThreadStatus::kArchived;
  query.order = ListOrder::kCreatedOldestFirst;  // does not change while it is read
  query.limit = limits::kMaxPageSize;
  do {
    SKEIN_ASSIGN(ThreadPage page, store.list(query));
    for (Manifest& manifest : page.threads) {
      const auto at = due_at(manifest);
      if (!at || *at > now) continue;
      std::string reason = reason_of(*manifest.archive);
      due.push_back({std::move(manifest), *at, std::move(reason)});
    }
    query.after = std::move(page.next);
  } while (!query.after.empty());
  std::sort(due.begin(), due.end(), [](const DueThread& a, const DueThread& b) {
    return std::tie(a.due_at, a.manifest.id) < std::tie(b.due_at, b.manifest.id);
  });
  return due;
}

Result<bool> remove_due(Store& store, const DueThread& due, Timestamp now) {
  auto removed = remove_recorded(store, due.manifest, due.reason, now);
  if (!removed && removed.error().code == ErrorCode::kConflict) return false;
  return removed;
}

}  // namespace skein
