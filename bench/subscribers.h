// What an append costs while many subscribers listen.
#pragma once

#include <vector>

#include "bench/parts.h"

namespace skein::bench {

Result<void> measure_subscribers(const BenchOptions& options, std::vector<Row>& rows);

}  // namespace skein::bench
