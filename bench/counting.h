// How fast tokens are counted.
#pragma once

#include <vector>

#include "bench/parts.h"

namespace skein::bench {

Result<void> measure_counting(const BenchOptions& options, std::vector<Row>& rows);

}  // namespace skein::bench
