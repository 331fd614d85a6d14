// The messages along a thread's current path: what was rolled back or edited away is not there.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "skein/store.h"

namespace skein {

struct MessageQuery {
  Direction direction = Direction::kForward;  // kBackward: the newest first
  std::optional<Role> role{};                 // messages of this role only
  std::uint64_t offset = 0;                   // so many are passed over first
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  Seq head = kLastSeq;  // the path to this event instead of the last
};

// Delivers messages (and none of the other types of event) in the order asked for. Reads from the
// end that it starts at, and no further than it must.
Result<void> read_messages(Store& store, ThreadId thread, const MessageQuery& query,
                           const EventSink& sink);

}  // namespace skein
