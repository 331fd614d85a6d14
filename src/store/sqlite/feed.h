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
#include "store/sqlite/shared_number.h"

namespace skein::sqlite {

// Tells when something was written, by this process or another: by the number that they share, and
// for those that do not change it, by looking now and then. Thread-safe.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  // `number` is borrowed.
  static Result<std::unique_ptr<Watch>> open(const std::string& path, const SharedNumber& number);

  // What to hand to `wait`; take it before looking at the data.
  std::uint64_t generation();
  // Returns when something was written since, or at the deadline.
  Result<void> wait(std::uint64_t since, Clock::time_point deadline);
  // This process wrote.
  void notify();

 private:
  Watch(Database database, const SharedNumber& number)
      : number_(number), database_(std::move(database)) {}

  // With mutex_ held:
  std::uint64_t look_at_number();  // returns it
  Result<void> watch(std::unique_lock<std::mutex>& lock, std::uint64_t since,
                     Clock::time_point deadline);

  const SharedNumber& number_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t generation_ = 0;    // under mutex_
  std::uint64_t seen_ = 0;          // under mutex_: the number after the last write
  bool watched_ = false;            // under mutex_: somebody watches for everyone
  Database database_;               // of whoever watches
  std::int64_t data_version_ = -1;  // of whoever watches
};

Result<ChangeBatch> read_changes(Readers& readers, Watch& watch, std::string_view cursor,
                                 std::size_t limit, std::chrono::milliseconds wait);

}  // namespace skein::sqlite
