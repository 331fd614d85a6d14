// How text looks on a terminal: colours, relative times, wrapped lines. Plain where nobody looks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/event.h"
#include "skein/thread.h"

namespace skein {

enum class Tone { kPlain, kFaint, kStrong, kCyan, kGreen, kYellow, kMagenta };

struct Style {
  bool terminal = false;  // a person reads: stored text is made visible, times are relative
  bool colours = false;
  std::size_t width = 0;  // columns to wrap at; 0: never
  Timestamp now;          // for relative times

  std::string paint(Tone tone, std::string_view text) const;
  // "5 min ago" on a terminal, the time in full elsewhere.
  std::string time(Timestamp then) const;
  // Stored text, fit for where it goes.
  std::string stored(std::string_view text) const;
  std::string stored_line(std::string_view text) const;
};

// For a file descriptor: colours unless NO_COLOR is set or TERM is dumb, as wide as the terminal.
Style style_for(int fd, Timestamp now);

Tone tone_of(Role role);
Tone tone_of(ThreadStatus status);

// "just now", "5 min ago", "3 h ago", "2 days ago", and the date beyond a month. Times ahead:
// "in 5 min".
std::string relative_time(Timestamp then, Timestamp now);

// The columns that text takes: wide characters two, marks that combine none.
std::size_t display_width(std::string_view text);

// Breaks lines at spaces so that none is wider than `width` with its indent, words that do not fit
// anywhere; 0 breaks nothing. Every line, empty ones aside, gets the indent and all end in a line
// feed.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t width);

}  // namespace skein
