// One line of ours in a file: a JSON object whose last member is a checksum of all bytes before it,
// {…,"crc":"89abcdef"}. Lines that do not end so were written by other programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "skein/event.h"

namespace skein {

// `,"crc":"`, eight digits, `"}`.
inline constexpr std::size_t kFrameBytes = 18;

// Closes the object that begins at `start`: appends the checksum and the brace, no line feed. Line
// feeds between its tokens become spaces.
void close_line(std::string& out, std::size_t start);

// The event as a line, line feed included.
void append_event_line(std::string& out, const Event& event, Seq seq);

enum class Frame {
  kNone,      // nothing like it: another program's line
  kVerified,  // ours, as it was written
  kDamaged,   // ours, but not as it was written; damage to the frame itself counts as that
};
// Of a line without its line feed.
Frame check_frame(std::string_view line);

// Whether a line of ours ends at `end`; what follows it in the text does not matter.
bool frame_verifies_at(std::string_view text, std::size_t end);

// Of a damaged line that swallowed its own line feed: the length of the whole line of ours at its
// beginning. 0: there is none.
std::size_t verified_prefix(std::string_view line);

}  // namespace skein
