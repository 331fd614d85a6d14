// Gathers what is appended to a file.
#pragma once

#include <string>
#include <string_view>

#include "core/file.h"
#include "core/try.h"

namespace skein {

// Borrows its arguments. What was not flushed is not written.
class LineAppender {
 public:
  LineAppender(const Fd& fd, const std::string& path) : fd_(fd), path_(path) {}
  Result<void> add(std::string_view text) {
    buffer_ += text;
    return buffer_.size() < kBuffer ? Result<void>() : flush();
  }
  Result<void> flush() {
    SKEIN_TRY(write_append(fd_, path_, buffer_));
    buffer_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;
  const Fd& fd_;
  const std::string& path_;
  std::string buffer_;
};

}  // namespace skein
