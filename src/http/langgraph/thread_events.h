// The events of a thread, as the SDK's thread protocol reads them: all runs, one after the other.
//
// Every event has a number that is made of what is stored, never of when it was told: clients that
// come again are told the same events by the same numbers, also after a restart, and know which
// they have. A piece of text is told word by word, numbered by where it ends, so that this holds
// for text that is not stored yet as well.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "http/langgraph/shared.h"

namespace skein::http {

namespace limits {
inline constexpr std::size_t kMaxReplayedRuns = 32;  // told again to whoever comes without a number
}  // namespace limits

struct ThreadEventsFilter {
  std::set<std::string, std::less<>> channels;
  std::optional<std::uint64_t> since;  // only what has a greater number
  bool root = true;  // whether the namespaces asked for include the root; there is no other
};

// The number of the last event that a thread with so many events may have told.
std::uint64_t last_number(Seq last_seq);

Result<std::unique_ptr<Stream>> thread_events(Shared shared, const Manifest& manifest,
                                              ThreadEventsFilter filter);

}  // namespace skein::http
