#include "core/processor_time.h"

#include <cstdint>
#include <fstream>

namespace skein {

ProcessorTime processor_time() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::int64_t worked = 0;
  std::int64_t waited = 0;
  if (!(file >> worked >> waited)) return {};
  return {std::chrono::nanoseconds(worked), std::chrono::nanoseconds(waited)};
}

}  // namespace skein
