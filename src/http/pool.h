// A fixed number of threads for what blocks, with a bounded queue before them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/sleepers.h"

namespace skein::http {

// Thread-safe.
class Pool {
 public:
  using Work = std::function<void()>;

  Pool(std::size_t threads, std::size_t max_queued);
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Does what was submitted, and nothing that comes later.
  void stop();

  // False: too much waits already.
  bool submit(Work work);
  // For what is bounded elsewhere, such as one look at each stream.
  void submit_always(Work work);

  struct Figures {
    std::size_t threads = 0;
    std::size_t busy = 0;
    std::size_t queued = 0;
  };
  Figures figures() const;

 private:
  void work();
  void push(Work work, std::unique_lock<std::mutex>& lock);

  const std::size_t size_;
  const std::size_t max_queued_;
  mutable std::mutex mutex_;  // protects all below
  std::deque<Work> queue_;    // empty while anybody sleeps
  Sleepers sleepers_;
  std::size_t busy_ = 0;
  std::vector<std::jthread> threads_;  // the constructor's
};

}  // namespace skein::http
