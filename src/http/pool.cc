#include "http/pool.h"

#include <utility>

namespace skein::http {

Pool::Pool(std::size_t threads, std::size_t max_queued) : size_(threads), max_queued_(max_queued) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void Pool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  threads_.clear();
}

bool Pool::submit(Work work) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= max_queued_) return false;
  push(std::move(work));
  return true;
}

void Pool::submit_always(Work work) {
  const std::lock_guard lock(mutex_);
  push(std::move(work));
}

void Pool::push(Work work) {
  if (stopping_) return;
  queue_.push_back(std::move(work));
  if (sleeping_ > 0) came_.notify_one();
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++sleeping_;
    came_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --sleeping_;
    if (queue_.empty()) return;
    Work next = std::move(queue_.front());
    queue_.pop_front();
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
