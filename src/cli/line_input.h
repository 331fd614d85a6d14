// Lines from a file descriptor, as many as are there already.
#pragma once

#include <cstdint>
#include <vector>

#include "api/append_lines.h"
#include "core/line_buffer.h"
#include "skein/error.h"
#include "skein/limits.h"

namespace skein {

// Waits for the first line and takes, without waiting, what else has come by then: a slow writer is
// answered line by line, and a fast one in batches.
class LineInput {
 public:
  struct Batch {
    std::vector<EventLine> lines;
    std::vector<std::uint64_t> too_long;  // numbers of lines beyond the limit, which were dropped
    bool ended = false;                   // nothing will follow
  };

  // `wake_fd` becoming readable ends a wait; the batch is empty then, unless lines had come
  // already.
  LineInput(int fd, int wake_fd) : fd_(fd), wake_fd_(wake_fd) {}

  Result<Batch> next();

 private:
  enum class Ready { kInput, kWoken, kNothing };
  Result<Ready> wait(int timeout_ms) const;
  // The number of bytes that came; 0 at the end.
  Result<std::size_t> fill();
  void take_lines(Batch& batch);

  const int fd_;
  const int wake_fd_;
  // White space around an event does not count towards its own limit.
  LineBuffer buffer_{2 * limits::kMaxEventBytes};
};

}  // namespace skein
