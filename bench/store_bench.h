// `skein bench store`: what the store does in a second, against bare loops measured in the same
// run.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

// Must be run before the program has other threads: one part forks.
std::span<const Part> store_bench_parts();

}  // namespace skein::bench
