// The latest events, kept once for all subscribers of a manager.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "thread/thread_event_reader.h"

namespace skein {

// Thread-safe. Bounded by events and bytes: whoever is further behind than it reaches must read the
// store, and finds the way back by a cursor.
class EventRing {
 public:
  struct Place {
    std::uint64_t batch = 0;
    std::size_t event = 0;
  };

  // One who waits, with a place of its own to be woken at: a thousand on one condition would all
  // wake whenever one of them is stopped.
  class Waiter {
    friend class EventRing;
    std::condition_variable_any woken_;
    bool notified_ = false;  // by the ring's mutex
  };

  // Begins anew at that place in the feed, or at none yet; everybody's place is lost.
  void restart(std::optional<std::string> cursor);
  // Answers those who waited for it; they are to be woken, a few at a time.
  using Waiters = std::vector<std::shared_ptr<Waiter>>;
  [[nodiscard]] Waiters publish(ThreadEventBatch batch);
  static void wake(std::span<const std::shared_ptr<Waiter>> waiters);

  // Where to go on from after the cursor; nothing, if that place is not in here.
  std::optional<Place> find(const std::string& cursor) const;

  // The batch at the place, waiting for it. Null: the place is lost, or `stop`.
  std::shared_ptr<const ThreadEventBatch> take(const Place& place, const std::stop_token& stop,
                                               const std::shared_ptr<Waiter>& waiter);

  // Until something is published, the time is over, or `stop`.
  void wait(std::chrono::milliseconds time, const std::stop_token& stop,
            const std::shared_ptr<Waiter>& waiter);

 private:
  Waiters take_waiters();

  mutable std::mutex mutex_;  // protects all below
  Waiters waiting_;
  std::deque<std::shared_ptr<const ThreadEventBatch>> batches_;
  std::uint64_t first_ = 0;         // the number of the first of them
  std::optional<std::string> end_;  // cursor
  std::size_t events_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace skein
