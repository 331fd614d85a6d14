#include "bench/context_bench.h"

#include "bench/subscribers.h"

namespace skein::bench {

std::span<const Part> context_bench_parts() {
  static const Part kParts[] = {{"subscribers", measure_subscribers}};
  return kParts;
}

}  // namespace skein::bench
