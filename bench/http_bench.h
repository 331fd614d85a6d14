// What the server costs beyond the store.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> http_bench_parts();

}  // namespace skein::bench
