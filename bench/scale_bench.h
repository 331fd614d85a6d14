// What becomes of a store as the number of its threads grows.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> scale_bench_parts();

}  // namespace skein::bench
