// Many writers, one flush: whoever comes first does the work of all who wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/gathering.h"

namespace skein {

// There is no thread of its own: of those who wait, the first leads, executes a batch of all that
// waits (up to the limits), and hands the lead on. One writer alone pays for no switch of threads.
//
// A leader lets those in that are about to come back (gathering.h).
//
// Thread-safe.
class GroupCommit {
 public:
  // What a caller hands in; derive from it. Lives until submit returns.
  class Request {
   public:
    std::size_t items = 1;
    std::size_t bytes = 0;

   private:
    friend class GroupCommit;
    std::atomic<std::uint32_t> state_{0};
  };

  // A batch holds at least one request, and stops before it exceeds these.
  struct Limits {
    std::size_t items = 1024;
    std::size_t bytes = std::size_t{8} << 20;
    // When a leader has waited for so long before it took any, all but the first are refused, and
    // so is who comes then. 0: they wait with it.
    std::chrono::milliseconds patience{0};
  };

  // What is executed together, in the order of submission. What it returns is good until it is
  // asked again.
  class Batch {
   public:
    // Lets others in, then takes all that waits.
    std::span<Request* const> gather();
    // Takes what waits; if nothing does, waits for others. None: nobody else takes part. For those
    // who can begin to work while the others are still on their way.
    std::span<Request* const> next();
    // All that was taken so far.
    std::span<Request* const> all() const { return requests_; }

   private:
    friend class GroupCommit;
    explicit Batch(GroupCommit& group);

    std::size_t in_sight() const;  // taken or waiting
    void let_others_in(bool all);  // or only the first of them
    std::span<Request* const> take();

    GroupCommit& group_;
    const Gathering::Clock::time_point until_;  // others are let in
    std::vector<Request*> requests_;
    std::size_t items_ = 0;
    std::size_t bytes_ = 0;
  };

  // Called for one batch after the other; has to take at least once, and gets at least one then.
  // Must not throw.
  using Execute = std::function<void(Batch&)>;

  GroupCommit(Limits limits, Execute execute);
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Returns after `execute` returned for a batch with this request in it.
  // False: it was refused, and nothing was done for it.
  bool submit(Request& request);

  // How many wait and are not yet in a batch.
  std::size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  using Clock = Gathering::Clock;

  enum class Place { kWaits, kLeads, kRefused };
  Place enqueue(Request& request);
  void sleep(Request& request);
  bool is_stuck() const;  // under mutex_
  void refuse_others_if_stuck();
  void lead(const Request& own);
  void hand_on(const Batch& batch, Clock::duration took);
  static void finish(Request& request, std::uint32_t state);

  const Limits limits_;
  const Execute execute_;

  std::mutex mutex_;
  std::deque<Request*> queue_;  // under mutex_
  bool led_ = false;            // under mutex_
  // Under mutex_: since when a leader has taken nothing. It has the first of the queue to do.
  std::optional<Clock::time_point> idle_since_;

  std::atomic<std::size_t> waiting_{0};  // size of queue_

  Gathering gathering_;  // the leader's own
};

}  // namespace skein
