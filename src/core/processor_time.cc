#include "core/processor_time.h"

#include <cstdint>
#include <ctime>
#include <fstream>

namespace skein {
namespace {

std::chrono::nanoseconds clock_time(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

ProcessorTime processor_time() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::int64_t worked = 0;
  std::int64_t waited = 0;
  if (!(file >> worked >> waited)) return {};
  return {std::chrono::nanoseconds(worked), std::chrono::nanoseconds(waited),
          clock_time(CLOCK_PROCESS_CPUTIME_ID) - clock_time(CLOCK_THREAD_CPUTIME_ID)};
}

}  // namespace skein
