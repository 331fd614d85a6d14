#include "store/jsonl/line_reader.h"

#include <algorithm>
#include <cstring>

#include "core/json.h"
#include "core/try.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kPadding = JsonObjectReader::kPadding;
constexpr std::size_t kFirstChunk = std::size_t{16} << 10;
constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr std::size_t kNoHole = std::size_t{1} << 20;

}  // namespace

Result<bool> LineReader::fill() {
  const std::uint64_t have_end = buffer_offset_ + filled_;
  if (have_end >= end_) return false;
  const std::size_t rest = filled_ - begin_;
  const std::size_t wanted = std::max({capacity_, capacity_ == 0 ? kFirstChunk : kChunk, rest * 2});
  if (wanted > capacity_) {
    auto larger = std::make_unique_for_overwrite<char[]>(wanted + kPadding);
    if (rest > 0) std::memcpy(larger.get(), buffer_.get() + begin_, rest);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (rest > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, rest);
  }
  buffer_offset_ += begin_;
  begin_ = 0;
  filled_ = rest;
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(capacity_ - rest, end_ - have_end));
  SKEIN_ASSIGN(const auto got, read_at(fd_, path_, have_end, buffer_.get() + rest, size));
  filled_ += got;
  std::memset(buffer_.get() + filled_, 0, kPadding);
  return got > 0;
}

Result<bool> LineReader::next(Raw& line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.get() + begin_;
    const std::size_t rest = filled_ - begin_;
    const void* newline =
        rest > searched ? std::memchr(start + searched, '\n', rest - searched) : nullptr;
    if (newline != nullptr) {
      last_length_ = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
      line = {.offset = offset(), .text = {start, last_length_}, .overlong = false};
      begin_ += last_length_ + 1;
      return true;
    }
    searched = rest;
    // No line of JSON has a NUL: it is a hole, which a file can have without taking room.
    const bool hole = rest > kNoHole && start[rest - 1] == '\0';
    if (rest > longest_line_ || hole) return skip_overlong(line);
    SKEIN_ASSIGN(const bool more, fill());
    if (!more) return false;
  }
}

void LineReader::cut(std::size_t length) { begin_ -= last_length_ - length; }

std::string_view LineReader::rest() const {
  return buffer_ ? std::string_view(buffer_.get() + begin_, filled_ - begin_) : std::string_view();
}

Result<bool> LineReader::skip_overlong(Raw& line) {
  line = {.offset = offset(), .text = {}, .overlong = true};
  while (true) {
    begin_ = filled_;
    if (offset() - line.offset > longest_line_ + kMostSkipped) {
      return fail(ErrorCode::kDamaged,
                  path_ + ": the line at byte " + std::to_string(line.offset) +
                      " is longer than any event may be, and has no end within " +
                      std::to_string(offset() - line.offset) +
                      " bytes. Restore the file from a copy, or remove it");
    }
    SKEIN_ASSIGN(const bool more, fill());
    if (!more) return false;
    const void* newline = std::memchr(buffer_.get(), '\n', filled_);
    if (newline == nullptr) continue;
    begin_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.get()) + 1;
    return true;
  }
}

}  // namespace skein::jsonl
