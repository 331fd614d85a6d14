// `skein bench context`: what conversations cost beyond the store.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> context_bench_parts();

}  // namespace skein::bench
