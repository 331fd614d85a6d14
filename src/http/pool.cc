#include "http/pool.h"

#include <utility>

namespace skein::http {
namespace {

constexpr std::chrono::hours kSleep{1};

}  // namespace

Pool::Pool(std::size_t threads, std::size_t max_queued) : size_(threads), max_queued_(max_queued) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void Pool::stop() {
  {
    const std::lock_guard lock(mutex_);
    sleepers_.end();
  }
  threads_.clear();
}

bool Pool::submit(Work work) {
  std::unique_lock lock(mutex_);
  if (queue_.size() >= max_queued_) return false;
  push(std::move(work), lock);
  return true;
}

void Pool::submit_always(Work work) {
  std::unique_lock lock(mutex_);
  push(std::move(work), lock);
}

void Pool::push(Work work, std::unique_lock<std::mutex>& lock) {
  if (sleepers_.ended()) return;
  const auto sleeper = sleepers_.give(work);
  if (!sleeper) queue_.push_back(std::move(work));
  lock.unlock();
  if (sleeper) sleeper->wake();
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  while (!queue_.empty() || !sleepers_.ended()) {
    Work next;
    if (queue_.empty()) {
      next = sleepers_.sleep(lock, kSleep);
      if (!next) continue;
    } else {
      next = std::move(queue_.front());
      queue_.pop_front();
    }
    ++busy_;
    lock.unlock();
    next();
    next = nullptr;  // what it holds may take long to go
    lock.lock();
    --busy_;
  }
}

Pool::Figures Pool::figures() const {
  const std::lock_guard lock(mutex_);
  return {size_, busy_, queue_.size()};
}

}  // namespace skein::http
