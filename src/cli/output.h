// Standard output and standard error, as commands use them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "core/visible.h"
#include "skein/error.h"

namespace skein {

// What the system gave us, such as a path, as valid UTF-8: other bytes are shown as escapes.
std::string printable(std::string_view text);

// Standard output, buffered. After a failure it swallows everything, and flush() tells.
class Output {
 public:
  explicit Output(int fd);

  bool terminal() const { return terminal_; }
  // What this program says, and JSON: in that, characters that reorder or hide text are escaped on
  // a terminal.
  void write(std::string_view text);
  // What somebody stored: made visible on a terminal, as it is otherwise.
  void write_stored(std::string_view text);
  // Whether all went well so far.
  Result<void> status() const;
  // Everything up to here reaches whoever reads, or an error says why not.
  Result<void> flush();

 private:
  void append(std::string_view text);

  const int fd_;
  const bool terminal_;
  std::string buffer_;
  int error_ = 0;
};

// "skein: <message>" on standard error; with `json` an object with code and message in a line after
// it.
void report_error(std::string_view code, std::string_view message, bool json);
void report(const Failure& failure, bool json);
// One line on standard error, in one piece: as it is, or as a message of this program to a person.
void print_line_to_stderr(std::string_view line);
void print_notice(std::string_view message);

// A bar on standard error while something takes long. Shows nothing unless that is a terminal, and
// nothing is left of it in the end.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `total` 0: not known.
  void update(std::uint64_t done, std::uint64_t total);
  // Takes the bar away, so that something else can be printed; the next update brings it back.
  void clear();

 private:
  const std::string label_;
  const bool enabled_;
  bool shown_ = false;
  std::int64_t last_ms_ = 0;
};

}  // namespace skein
