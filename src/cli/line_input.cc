#include "cli/line_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/try.h"

namespace skein {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
constexpr std::size_t kBatchBytes = 4 << 20;

}  // namespace

Result<LineInput::Ready> LineInput::wait(int timeout_ms) const {
  pollfd fds[2] = {{fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
  const int ready = ::poll(fds, wake_fd_ >= 0 ? 2 : 1, timeout_ms);
  if (ready < 0 && errno != EINTR) {
    return fail(ErrorCode::kIo, fmt::format("cannot wait for input: {}", std::strerror(errno)));
  }
  if (wake_fd_ >= 0 && fds[1].revents != 0) return Ready::kWoken;
  return ready > 0 && fds[0].revents != 0 ? Ready::kInput : Ready::kNothing;
}

Result<std::size_t> LineInput::fill() {
  char* room = buffer_.room(kReadBytes);
  ssize_t got = 0;
  do {
    got = ::read(fd_, room, kReadBytes);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return fail(ErrorCode::kIo, fmt::format("cannot read the input: {}", std::strerror(errno)));
  }
  buffer_.fill(static_cast<std::size_t>(got));
  return static_cast<std::size_t>(got);
}

void LineInput::take_lines(Batch& batch) {
  LineBuffer::Line line;
  while (buffer_.next(line)) {
    if (line.too_long) {
      batch.too_long.push_back(line.number);
    } else {
      batch.lines.push_back({line.number, std::string(line.text)});
    }
  }
}

Result<LineInput::Batch> LineInput::next() {
  Batch batch;
  std::size_t taken = 0;
  while (true) {
    const bool have_some = !batch.lines.empty() || !batch.too_long.empty();
    if (have_some && taken >= kBatchBytes) return batch;
    SKEIN_ASSIGN(const Ready ready, wait(have_some ? 0 : -1));
    if (ready == Ready::kWoken || (ready == Ready::kNothing && have_some)) return batch;
    if (ready == Ready::kNothing) continue;
    SKEIN_ASSIGN(const std::size_t got, fill());
    taken += got;
    // A last line without its line feed counts as one; if it was cut off, it is no event.
    if (got == 0) buffer_.end();
    take_lines(batch);
    batch.ended = got == 0;
    if (batch.ended) return batch;
  }
}

}  // namespace skein
