// One line of ours in a file: a JSON object whose last member is a checksum of all bytes before it,
// {…,"crc":"89abcdef"}. Lines that do not end so were written by other programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "skein/event.h"

namespace skein {

// Closes the object that begins at `start`: appends the checksum and the brace. No line feed.
void close_line(std::string& out, std::size_t start);

// The event as a line, line feed included.
void append_event_line(std::string& out, const Event& event, Seq seq);

enum class Frame {
  kNone,      // nothing like it: another program's line
  kVerified,  // ours, as it was written
  kDamaged,   // ours, but not as it was written
};
// Of a line without its line feed.
Frame check_frame(std::string_view line);

}  // namespace skein
