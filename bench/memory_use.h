// How much memory a process needs that appends and reads many events.
#pragma once

#include <cstddef>
#include <string>

#include "skein/error.h"

namespace skein::bench {

struct MemoryUse {
  double early_mb = 0;  // peak of the resident set after a tenth of the work
  double peak_mb = 0;   // and after all of it
};

// Works in a child process. Call it while this one has a single thread.
Result<MemoryUse> measure_memory(const std::string& url, std::size_t events);

}  // namespace skein::bench
