// Ids of runs: UUIDs (version 7) that grow with time and end in the id of their thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/ids.h"

namespace skein {

// Thread-safe.
class RunIds {
 public:
  RunIds(Clock& clock, IdSource& ids) : clock_(clock), ids_(ids) {}

  // Greater than all that it gave before. Another process may give the same, though hardly ever:
  // whoever writes a run's first record expects that there is none.
  std::string next(ThreadId thread);

 private:
  Clock& clock_;
  IdSource& ids_;
  std::mutex mutex_;
  std::uint64_t last_ = 0;  // under mutex_: milliseconds, and a counter in the low 12 bits
};

}  // namespace skein
