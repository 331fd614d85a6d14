// Cuts bytes that come in pieces into lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skein {

// Holds no more than one line beyond what was put in at once; the contents of lines longer than the
// limit are dropped. Not thread-safe.
class LineBuffer {
 public:
  struct Line {
    std::uint64_t number = 0;  // from 1
    std::string_view text;     // without its line feed; lives until the next room()
    bool too_long = false;     // and therefore empty
    bool complete = true;      // a line feed ended it, not the end of the input
  };

  explicit LineBuffer(std::size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  // Room for `bytes` more; fill() says how many of them came. All lines must have been taken.
  char* room(std::size_t bytes);
  void fill(std::size_t bytes);
  // Nothing more will come: what is left is a line too.
  void end() { ended_ = true; }

  // False: no line before the next bytes come.
  bool next(Line& line);

 private:
  const std::size_t max_line_bytes_;
  std::string bytes_;
  std::size_t filled_ = 0;    // of bytes_
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no line feed before this
  std::uint64_t number_ = 0;
  bool dropping_ = false;
  bool ended_ = false;
};

}  // namespace skein
