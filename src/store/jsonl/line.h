// One line of ours: a JSON object whose last member is a checksum of all bytes before it,
// {…,"crc":"89abcdef"}. Lines that do not end so were written by other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skein/event.h"

namespace skein::jsonl {

// `,"crc":"`, eight digits, `"}`.
inline constexpr std::size_t kFrameBytes = 18;

// Closes the object that begins at `start`: appends the frame. No newline.
void close_line(std::string& out, std::size_t start);

// The event as a line, newline included.
void append_event_line(std::string& out, const Event& event, Seq seq);

enum class Frame {
  kNone,      // nothing like it: another program's line
  kVerified,  // ours, as it was written
  kDamaged,   // ours, but not as it was written; damage to the frame itself counts as that
};
Frame check_frame(std::string_view line);

// The same for text of which the frame ends at `end`; what follows does not matter.
bool frame_verifies_at(std::string_view text, std::size_t end);

// Of a damaged line that swallowed its own newline: the length of the whole line of ours at its
// beginning. 0: there is none.
std::size_t verified_prefix(std::string_view line);

// The value of the last `,"name":` in a verified line, if it is a whole number.
std::optional<std::uint64_t> trailing_number(std::string_view line, std::string_view name);

// The position that a verified line claims.
std::optional<Seq> line_seq(std::string_view line);

// Without the carriage return of programs that write one.
std::string_view without_cr(std::string_view line);
bool is_blank(std::string_view text);

}  // namespace skein::jsonl
