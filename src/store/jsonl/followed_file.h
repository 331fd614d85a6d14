// A file of lines that several processes append to, read on from where this one was.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/file.h"
#include "skein/error.h"

namespace skein::jsonl {

// Not thread-safe.
class FollowedFile {
 public:
  explicit FollowedFile(std::string path) : path_(std::move(path)) {}

  // Gets each line after the last one that was read, with its offset. Text has
  // JsonObjectReader::kPadding readable bytes after it.
  using LineSink = std::function<void(std::uint64_t offset, std::string_view text)>;

  // Reads what is new; a missing file is an empty one. Calls `restart` first when the file is not
  // the one that was read before, and then reads it from the beginning.
  Result<void> follow(const std::function<void()>& restart, const LineSink& line);

  // Opens it for writing, and makes it if need be. After it, `fd` is open.
  Result<void> make(Flusher& flusher);

  // Appends whole lines after the last one, cutting off the torn rest of one. On an error nothing
  // of them is there, unless the flush failed. For one who holds the file's lock and has followed
  // it.
  Result<void> append(std::string lines, Flusher& flusher);

  const std::string& path() const { return path_; }
  const Fd& fd() const { return fd_; }
  std::uint64_t size() const { return size_; }
  // Bytes after the last line that are not one.
  std::uint64_t torn_bytes() const { return size_ - end_; }

 private:
  Result<bool> open_current();

  const std::string path_;
  Fd fd_;
  std::uint64_t inode_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t end_ = 0;  // of the lines that were read
  bool newline_missing_ = false;
};

}  // namespace skein::jsonl
