// How many tokens an event takes in a context.
#pragma once

#include <cstdint>

#include "skein/event.h"

namespace skein {

struct EventCost {
  std::uint64_t tokens = 0;  // kMessageOverhead included
  bool estimated = false;

  EventCost& operator+=(const EventCost& other) {
    tokens += other.tokens;
    estimated = estimated || other.estimated;
    return *this;
  }
};

// Counts what a model is shown: the text, or a tool's name and input. Unknown fields named content,
// attachments, images, files or parts are content, too: their strings are counted, and each image
// in them is estimated. 0 for what no model is shown.
EventCost cost_of(const Event& event);

// The same, but takes the count that came with the event for that of its text.
EventCost cost_as_given(const Event& event);

}  // namespace skein
