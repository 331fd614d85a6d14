// `skein bench checkpoints`: how long one waits for lists, searches and hooks, as the program runs
// them.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> checkpoint_bench_parts();

}  // namespace skein::bench
