// Threads and events as people read them.
#pragma once

#include <string>

#include "skein/event.h"
#include "skein/thread.h"

namespace skein {

// A heading with position, time and kind, and what the event says, indented; ends with a line feed.
// Nothing is cut. Stored text is in it as it is.
std::string event_text(const Event& event);

// A field a line.
std::string manifest_text(const Manifest& manifest);

// One line of a list of threads, and the line above all of them.
std::string manifest_row(const Manifest& manifest, std::size_t agent_width);
std::string manifest_heading(std::size_t agent_width);

}  // namespace skein
