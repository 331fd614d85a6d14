#include "api/cleanup.h"

#include <algorithm>
#include <tuple>

#include "api/checkpoints.h"
#include "core/try.h"
#include "skein/retention.h"

namespace skein {
namespace {

Result<void> add_threads(Store& store, Timestamp now, std::vector<Due>& due) {
  SKEIN_ASSIGN(auto threads, due_threads(store, now));
  for (DueThread& thread : threads) {
    due.push_back(
        {.kind = "thread",
         .id = thread.manifest.id.str(),
         .agent_id = thread.manifest.agent_id,
         .since = thread.due_at,
         .reason = thread.reason,
         .remove = [&store, thread](Timestamp at) { return remove_due(store, thread, at); }});
  }
  return {};
}

// Automatic ones, and what the hooks remember of sessions that are as old.
Result<void> add_checkpoints(const Settings& settings, std::vector<Due>& due) {
  SKEIN_ASSIGN(const auto purged, purge_checkpoints(settings, {.dry_run = true}));
  for (const CheckpointEntry& entry : purged.checkpoints) {
    due.push_back({.kind = "checkpoint",
                   .id = entry.id,
                   .agent_id = "",
                   .since = entry.created_at,
                   .reason = std::string(kPurgeReason),
                   .remove = [settings, id = entry.id](Timestamp) -> Result<bool> {
                     SKEIN_ASSIGN(const auto gone, purge_checkpoints(settings, {.only = id}));
                     return !gone.checkpoints.empty();
                   }});
  }
  return {};
}

}  // namespace

Result<std::vector<Due>> find_due(Store* store, const Settings& settings, Timestamp now) {
  std::vector<Due> due;
  if (store != nullptr) SKEIN_TRY(add_threads(*store, now, due));
  SKEIN_TRY(add_checkpoints(settings, due));
  std::sort(due.begin(), due.end(), [](const Due& a, const Due& b) {
    return std::tie(a.since, a.id) < std::tie(b.since, b.id);
  });
  return due;
}

}  // namespace skein
