#include "core/line_buffer.h"

#include <algorithm>

namespace skein {

char* LineBuffer::room(std::size_t bytes) {
  bytes_.erase(0, begin_);
  filled_ -= begin_;
  begin_ = 0;
  if (filled_ > max_line_bytes_) {
    dropping_ = true;
    filled_ = 0;
  }
  searched_ = filled_;
  bytes_.resize(filled_ + bytes);
  return bytes_.data() + filled_;
}

void LineBuffer::fill(std::size_t bytes) {
  filled_ += bytes;
  bytes_.resize(filled_);
}

bool LineBuffer::next(Line& line) {
  std::size_t end = bytes_.find('\n', std::max(begin_, searched_));
  const bool complete = end != std::string::npos;
  if (!complete) {
    if (!ended_ || (begin_ == filled_ && !dropping_)) return false;
    end = filled_;
  }
  const bool too_long = dropping_ || end - begin_ > max_line_bytes_;
  line.number = ++number_;
  line.text = too_long ? std::string_view() : std::string_view(bytes_).substr(begin_, end - begin_);
  line.too_long = too_long;
  line.complete = complete;
  begin_ = complete ? end + 1 : end;
  dropping_ = false;
  return true;
}

}  // namespace skein
