// Follows what happens to threads.
#pragma once

#include <functional>
#include <string>

#include "skein/store.h"
#include "skein/thread_events.h"

namespace skein {

struct Watch {
  std::string since;  // as in SubscribeOptions
  ThreadEventFilter filter;
  std::function<bool()> go_on;                    // asked several times a second
  std::function<bool(const ThreadEvent&)> sink;   // false ends it
  std::function<void(const std::string&)> pause;  // all that there is was told, up to this cursor
};

// Tells what there is, and then what comes, until it is told to end.
Result<void> watch_threads(Store& store, const Watch& watch);

}  // namespace skein
