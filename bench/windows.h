// What it costs to fit a long thread into a model's window.
#pragma once

#include <vector>

#include "bench/parts.h"

namespace skein::bench {

// Forks: call it while the process has a single thread.
Result<void> measure_windows(const BenchOptions& options, std::vector<Row>& rows);

}  // namespace skein::bench
