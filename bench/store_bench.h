// `skein bench store`: what the store does in a second, against bare loops measured in the same
// run.
#pragma once

#include <string>
#include <vector>

#include "bench/report.h"
#include "skein/error.h"

namespace skein::bench {

struct StoreBenchOptions {
  std::string folder;  // an empty one, on the disk to measure; what is put there stays there
  bool quick = false;  // a tenth of the work: for a look, not for figures
  std::string only;    // one of store_bench_parts(); empty: all
  Progress progress;
};

std::vector<std::string> store_bench_parts();

// Must be called before the program has other threads: one part runs in a child process.
Result<std::vector<Row>> run_store_bench(const StoreBenchOptions& options);

}  // namespace skein::bench
