// Which tool call a response belongs to: calls and responses of one id pair up as brackets do.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"
#include "thread/event_kind.h"
#include "thread/thread_index.h"

namespace skein {

// Is told the events of a path one after the other, in either direction.
class ToolPairs {
 public:
  // kBackward: from newer events to older ones.
  explicit ToolPairs(Direction direction)
      : opens_(direction == Direction::kForward ? EventKind::kToolCall : EventKind::kToolResponse),
        closes_(direction == Direction::kForward ? EventKind::kToolResponse
                                                 : EventKind::kToolCall) {}

  // The event that was told before and belongs to this one, if this one completes a pair.
  std::optional<Seq> tell(const Event& event);
  // Those told before that still lack their other half.
  std::vector<Seq> open() const;

 private:
  const EventKind opens_;
  const EventKind closes_;
  std::map<std::string, std::vector<Seq>> open_;
};

// The other half of a tool call or response, on the path that runs back from the last event of the
// index and at most kToolPairReach events away. Nothing if it has none.
Result<std::optional<Event>> find_other_half(const ThreadIndex& index, const Event& event);

}  // namespace skein
