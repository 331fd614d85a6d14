// Reads a file line by line in large pieces, with flat memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/file.h"
#include "skein/error.h"

namespace skein::jsonl {

// Not thread-safe; borrows file and path. Text that it gives has JsonObjectReader::kPadding
// readable bytes after it and lives until the next call.
class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{32} << 20;
  // What an overlong line may have beyond that. A file can say that it is as long as it likes
  // without taking room.
  static constexpr std::uint64_t kMostSkipped = std::uint64_t{64} << 20;

  // Reads from `offset` up to `end`.
  LineReader(const Fd& fd, const std::string& path, std::uint64_t offset, std::uint64_t end,
             std::size_t longest_line = kLongestLine)
      : fd_(fd), path_(path), end_(end), longest_line_(longest_line), buffer_offset_(offset) {}

  struct Raw {
    std::uint64_t offset = 0;
    std::string_view text;  // without the newline
    bool overlong = false;  // longer than `longest_line`: `text` is empty
  };

  // The next line that ends in a newline. False: there is no more. kDamaged: an overlong line does
  // not come to its end.
  Result<bool> next(Raw& line);
  // Ends the line that next() gave after `length` bytes instead; the byte after them counts as its
  // end.
  void cut(std::size_t length);

  // After next() said false: what follows the last newline. Take counts it as read, up to `length`.
  std::string_view rest() const;
  void take_rest(std::size_t length) { begin_ += length; }

  // Of the first byte that was not read yet.
  std::uint64_t offset() const { return buffer_offset_ + begin_; }

 private:
  Result<bool> fill();
  Result<bool> skip_overlong(Raw& line);

  const Fd& fd_;
  const std::string& path_;
  const std::uint64_t end_;
  const std::size_t longest_line_;

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // of what was not read yet
  std::size_t filled_ = 0;
  std::size_t last_length_ = 0;  // of the line that next() gave
  std::uint64_t buffer_offset_;  // of buffer_[0] in the file
};

}  // namespace skein::jsonl
