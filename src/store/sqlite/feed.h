// The change feed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/sqlite.h"
#include "skein/store.h"
#include "store/sqlite/readers.h"

namespace skein::sqlite {

// Tells when something was written, by this process or another. Thread-safe.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  static Result<std::unique_ptr<Watch>> open(const std::string& path);

  // What to hand to `wait`; take it before looking at the data.
  std::uint64_t generation();
  // Returns when something was written since, or at the deadline.
  Result<void> wait(std::uint64_t since, Clock::time_point deadline);
  // This process wrote.
  void notify();

 private:
  explicit Watch(Database database) : database_(std::move(database)) {}

  Result<void> poll(std::unique_lock<std::mutex>& lock, std::uint64_t since,
                    Clock::time_point deadline);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t generation_ = 0;    // under mutex_
  bool polled_ = false;             // under mutex_: somebody polls for everyone
  Database database_;               // of whoever polls
  std::int64_t data_version_ = -1;  // of whoever polls
};

Result<ChangeBatch> read_changes(Readers& readers, Watch& watch, std::string_view cursor,
                                 std::size_t limit, std::chrono::milliseconds wait);

}  // namespace skein::sqlite
