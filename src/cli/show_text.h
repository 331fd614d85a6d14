// Threads and events as people read them: plain where a program reads, with colours, relative times
// and wrapped lines on a terminal.
#pragma once

#include <string>

#include "cli/style.h"
#include "skein/event.h"
#include "skein/thread.h"
#include "skein/thread_manager.h"

namespace skein {

// A heading with position, time and kind, and what the event says, indented; ends with a line feed.
// Nothing is cut.
std::string event_text(const Event& event, const Style& style);

// The same of a message, without what belongs to the log.
std::string message_text(const ThreadMessage& message, const Style& style);

// A field a line.
std::string manifest_text(const Manifest& manifest, const Style& style);

// One line of a list of threads, and the line above all of them.
std::string manifest_row(const Manifest& manifest, std::size_t agent_width, const Style& style);
std::string manifest_heading(std::size_t agent_width, const Style& style);

}  // namespace skein
