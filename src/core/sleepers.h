// Threads without work.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/futex.h"

namespace skein {

// Whoever fell asleep last is woken first: it has most of what it needs still at hand, and those
// who are not needed sleep on. Everything under the mutex of whoever has it, but for
// Sleeper::wake().
class Sleepers {
 public:
  using Work = std::function<void()>;

  class Sleeper {
   public:
    // Better without the mutex: it would wake only to wait for that.
    void wake() {
      woken_.store(1, std::memory_order_release);
      futex_wake(&woken_);
    }

   private:
    friend class Sleepers;
    // No condition variable: whoever is woken by one takes its mutex as if others waited for that,
    // and then calls the kernel to wake them.
    void wait_until(std::chrono::steady_clock::time_point end) {
      using std::chrono::steady_clock;
      for (auto now = steady_clock::now(); now < end; now = steady_clock::now()) {
        if (woken_.load(std::memory_order_acquire) != 0) return;
        futex_wait(woken_, 0, end - now);
      }
    }

    std::atomic<std::uint32_t> woken_{0};
    Work work_;
  };

  // Returns the work that somebody gave. None: the time is over, or end() was called.
  Work sleep(std::unique_lock<std::mutex>& lock, std::chrono::seconds time) {
    if (ended_) return nullptr;
    const auto self = std::make_shared<Sleeper>();
    asleep_.push_back(self);
    lock.unlock();
    self->wait_until(std::chrono::steady_clock::now() + time);
    lock.lock();
    if (!self->work_) std::erase(asleep_, self);
    return std::exchange(self->work_, nullptr);
  }

  // Who is to be woken for it. Null: nobody sleeps, and the work is left as it was.
  std::shared_ptr<Sleeper> give(Work& work) {
    if (asleep_.empty()) return nullptr;
    auto chosen = std::move(asleep_.back());
    asleep_.pop_back();
    chosen->work_ = std::move(work);
    return chosen;
  }

  // From now on nobody sleeps.
  void end() {
    ended_ = true;
    for (const auto& sleeper : asleep_) sleeper->wake();
  }
  bool ended() const { return ended_; }
  std::size_t size() const { return asleep_.size(); }

 private:
  std::vector<std::shared_ptr<Sleeper>> asleep_;
  bool ended_ = false;
};

}  // namespace skein
