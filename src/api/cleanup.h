// What may go: one list of everything that is due, whatever it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/settings.h"
#include "skein/store.h"

namespace skein {

// Why automatic checkpoints go.
inline constexpr std::string_view kPurgeReason = "made automatically more than 14 days ago";

struct Due {
  std::string kind;  // "thread", "checkpoint"
  std::string id;
  std::string agent_id;
  Timestamp since;     // when it became due
  std::string reason;  // in words
  // Removes it and leaves a record. False: it is gone already, or no longer due.
  std::function<Result<bool>(Timestamp now)> remove;
};

// Everything that is due in the store, if there is one, and in the workspace, the longest due
// first. Borrows the store.
Result<std::vector<Due>> find_due(Store* store, const Settings& settings, Timestamp now);

}  // namespace skein
