// The way back: what runs wrote is left behind, unless others wrote since.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "skein/run.h"
#include "skein/store.h"

namespace skein {

struct WayBack {
  Seq to = 0;         // the end of the thread before their events, whatever those continue from
  Seq last = 0;       // of their events: the last of the thread, unless others write meanwhile
  bool gone = false;  // somebody went back right after them: there is nothing left to do
};

// For runs whose first event that is. Nothing: others wrote since, and what they wrote is not taken
// back with the runs.
Result<std::optional<WayBack>> find_way_back(Store& store, ThreadId thread, Seq first,
                                             std::span<const std::string> run_ids);

// Goes back and says nothing. Refused with kConflict when others wrote meanwhile.
Append going_back(ThreadId thread, const WayBack& back, LeaseToken token);

}  // namespace skein
