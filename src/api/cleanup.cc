#include "api/cleanup.h"

#include <algorithm>
#include <tuple>

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

}  // namespace

Result<std::vector<Due>> find_due(Store& store, Timestamp now) {
  std::vector<Due> due;
  SKEIN_TRY(add_threads(store, now, due));
  std::sort(due.begin(), due.end(), [](const Due& a, const Due& b) {
    return std::tie(a.since, a.id) < std::tie(b.since, b.id);
  });
  return due;
}

}  // namespace skein
