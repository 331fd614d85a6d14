#include "bench/context_bench.h"

#include "bench/counting.h"
#include "bench/subscribers.h"
#include "bench/windows.h"

namespace skein::bench {

std::span<const Part> context_bench_parts() {
  // Windows first: it forks, and wants a process that has not grown yet.
  static const Part kParts[] = {{"windows", measure_windows},
                                {"counting", measure_counting},
                                {"subscribers", measure_subscribers}};
  return kParts;
}

}  // namespace skein::bench
