// How fast recall answers and indexes, and what it needs.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> search_bench_parts();

}  // namespace skein::bench
