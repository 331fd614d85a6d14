// What the caller of Runner::start waits for: a record, or why there is none.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "skein/error.h"
#include "skein/run.h"

namespace skein {

// Thread-safe.
class BegunRun {
 public:
  // Only the first counts.
  void tell(Result<Run> run) {
    const std::lock_guard lock(mutex_);
    if (!run_) run_ = std::move(run);
    told_.notify_all();
  }
  Result<Run> wait() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [&] { return run_.has_value(); });
    return *run_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::optional<Result<Run>> run_;  // under mutex_
};

}  // namespace skein
