// A benchmark in parts, each of which can be run alone.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/report.h"
#include "skein/error.h"

namespace skein::bench {

struct BenchOptions {
  std::string folder;   // an empty one, on the disk to measure; what is put there stays there
  bool quick = false;   // a tenth of the work: for a look, not for figures
  std::string only;     // the name of one part; empty: all
  std::string store{};  // the URL of a server to measure; empty: files in the folder
  std::size_t threads = 1'000'000;  // how far stores grow that are measured as they grow
  Progress progress;

  void say(std::string_view doing) const {
    if (progress) progress(doing);
  }
};

struct Part {
  const char* name;
  std::function<Result<void>(const BenchOptions& options, std::vector<Row>& rows)> run;
};

std::vector<std::string> part_names(std::span<const Part> parts);

// In the order given.
Result<std::vector<Row>> run_parts(std::span<const Part> parts, const BenchOptions& options);

}  // namespace skein::bench
