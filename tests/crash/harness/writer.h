// Carries a workload out on a store, and journals every acknowledgement.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "crash/harness/journal.h"
#include "crash/harness/workload.h"
#include "skein/store.h"

namespace skein::crash {

struct WriterOptions {
  std::uint64_t ops = UINT64_MAX;  // of each writer
  bool go_on_after_errors = false;
  // A planted bug, for one writer with `one_thread_only`: acknowledges before the append returns.
  bool acknowledge_early = false;
};

// Makes the threads that all writers share, where they are not there yet.
Result<void> make_shared_threads(Store& store, const Workload& workload);

// One writer. Not thread-safe.
class Writer {
 public:
  Writer(const Workload& workload, int index, JournalWriter& journal, const WriterOptions& options)
      : script_(workload, index), journal_(journal), options_(options), end_(options.ops) {}

  // Until the number of operations is reached, `stop` is set, or an operation fails (false then,
  // if it is not told to go on). May be called again, with another store.
  bool run(Store& store, const std::atomic<bool>& stop);
  // Moves the end of `run` away by that many operations.
  void go_on_for(std::uint64_t ops) { end_ += ops; }
  std::chrono::microseconds longest_wait() const { return longest_wait_; }
  const std::optional<Error>& first_error() const { return first_error_; }

 private:
  using Answers = std::vector<Result<std::uint64_t>>;
  Answers carry_out(Store& store, const Op& op);
  Answers append(Store& store, const Op& op);
  Answers take_lease(Store& store, const Op& op);
  void report(const Op& op, const Answers& answers);

  Script script_;
  JournalWriter& journal_;
  const WriterOptions options_;
  std::uint64_t end_;
  std::uint64_t finished_ = 0;
  std::optional<LeaseToken> token_;  // of the writer's own thread
  std::optional<Error> first_error_;
  std::chrono::microseconds longest_wait_{0};
};

}  // namespace skein::crash
