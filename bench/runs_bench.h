// `skein bench runs`: what a run costs besides its engine.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> runs_bench_parts();

}  // namespace skein::bench
