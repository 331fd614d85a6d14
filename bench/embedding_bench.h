// `skein bench embedding`: what the model that recall runs on costs here, and what it costs beyond
// the model itself.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> embedding_bench_parts();

}  // namespace skein::bench
