// The change feed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>

#include "core/file.h"
#include "skein/store.h"
#include "store/postgres/pool.h"

namespace skein::postgres {

// Tells when something may have been written, by this process or another. It may say so for
// nothing, and now and then does: what there is, the feed says. Thread-safe. Has a thread and a
// connection of its own from the first wait on.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watch(const Settings& settings);
  ~Watch();

  // What to hand to `wait`; take it before looking at the data.
  std::uint64_t generation();
  // Returns when something may have been written since, or at the deadline.
  void wait(std::uint64_t since, Clock::time_point deadline);
  // This process wrote.
  void notify();

 private:
  void listen(const std::stop_token& stop);
  // Waits for hints on the connection until it is lost.
  void follow(Connection& connection, const std::stop_token& stop);
  // False: a stop was asked for.
  bool sleep(const std::stop_token& stop, int socket, std::chrono::milliseconds time);

  const Settings& settings_;
  Fd wake_;  // readable when the thread is to end

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t generation_ = 0;  // under mutex_
  std::jthread listener_;         // under mutex_, until it runs
};

Result<ChangeBatch> read_changes(Pool& pool, Watch& watch, const Settings& settings,
                                 std::string_view cursor, std::size_t limit,
                                 std::chrono::milliseconds wait);

}  // namespace skein::postgres
