// Appends events that come as lines of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/thread_manager.h"

namespace skein {

// The append that an event in JSON asks for: a "seq" in it is the position that it must get.
// kInvalid: it is no event.
Result<Append> append_of(ThreadId thread, std::string_view json, std::optional<LeaseToken> fence);

struct EventLine {
  std::uint64_t number = 0;  // in its input, from 1
  std::string text;
};

struct LineResult {
  std::uint64_t number = 0;
  Result<Appended> result;
};

// Appends one event per line, in order, and answers for each; blank lines are skipped without an
// answer. A line that is no event is refused and its neighbours are not. A "seq" that is not the
// next position is a conflict. All lines of a call share what a flush costs.
std::vector<LineResult> append_lines(ThreadManager& manager, ThreadId thread,
                                     std::span<const EventLine> lines,
                                     std::optional<LeaseToken> fence);

}  // namespace skein
