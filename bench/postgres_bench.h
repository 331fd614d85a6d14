// What a `postgres:` store does in a second, against pgbench on the same server.
#pragma once

#include <span>

#include "bench/parts.h"

namespace skein::bench {

std::span<const Part> postgres_bench_parts();

}  // namespace skein::bench
