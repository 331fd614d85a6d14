// The work that the store benchmarks do, and the bare loops that they are measured against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "skein/error.h"
#include "skein/store.h"

namespace skein::bench {

// A message such as agents write: some 300 bytes of text, never the same twice.
Event sample_event(std::uint64_t number);
// The event as a line of JSON.
std::string sample_line(std::uint64_t number);

Result<std::vector<ThreadId>> create_threads(Store& store, const std::string& agent,
                                             std::size_t count);

struct AppendWork {
  std::size_t writers = 1;
  std::size_t appends = 1000;  // in all
  bool keyed = false;          // with idempotency keys
  bool random = false;  // each append to a thread at random; otherwise each writer has its own
};

struct AppendTimes {
  double rate = 0;  // appends a second
  double p50 = 0;   // seconds
  double p99 = 0;
};

Result<AppendTimes> run_appends(Store& store, const std::vector<ThreadId>& threads,
                                const AppendWork& work);

// write + fdatasync of one line at a time: lines a second.
Result<double> bare_loop(const std::string& path, std::size_t lines);
// The same by one OS thread for each of `files` files.
Result<double> bare_parallel_loops(const std::string& folder, std::size_t files, std::size_t lines);
// On a SQLite store's file: its statements for an append, by one thread, `rows` in each commit.
Result<double> sqlite_loop(const std::string& path, const std::vector<ThreadId>& threads,
                           std::size_t appends, std::size_t rows, bool keyed);

class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;

 private:
  std::int64_t started_ns_;
};

}  // namespace skein::bench
