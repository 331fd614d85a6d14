#include "thread/event_ring.h"

#include <utility>

namespace skein {
namespace {

constexpr std::size_t kMostEvents = 8192;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

}  // namespace

EventRing::Waiters EventRing::take_waiters() {
  for (const auto& waiter : waiting_) waiter->notified_ = true;
  return std::exchange(waiting_, {});
}

void EventRing::wake(std::span<const std::shared_ptr<Waiter>> waiters) {
  for (const auto& waiter : waiters) waiter->woken_.notify_one();
}

void EventRing::restart(std::optional<std::string> cursor) {
  std::unique_lock lock(mutex_);
  first_ += batches_.size() + 1;
  batches_.clear();
  end_ = std::move(cursor);
  events_ = 0;
  bytes_ = 0;
  const Waiters waiters = take_waiters();
  lock.unlock();
  wake(waiters);
}

EventRing::Waiters EventRing::publish(ThreadEventBatch batch) {
  const std::lock_guard lock(mutex_);
  end_ = batch.end;
  events_ += batch.events.size();
  bytes_ += batch.bytes;
  batches_.push_back(std::make_shared<const ThreadEventBatch>(std::move(batch)));
  while (batches_.size() > 1 && (events_ > kMostEvents || bytes_ > kMostBytes)) {
    events_ -= batches_.front()->events.size();
    bytes_ -= batches_.front()->bytes;
    batches_.pop_front();
    ++first_;
  }
  return take_waiters();
}

std::optional<EventRing::Place> EventRing::find(const std::string& cursor) const {
  const std::lock_guard lock(mutex_);
  if (cursor == end_) return Place{first_ + batches_.size(), 0};
  for (std::size_t i = batches_.size(); i-- > 0;) {
    const ThreadEventBatch& batch = *batches_[i];
    for (auto place = batch.places.rbegin(); place != batch.places.rend(); ++place) {
      if (place->cursor == cursor) return Place{first_ + i, place->events};
    }
    if (batch.begin == cursor) return Place{first_ + i, 0};
  }
  return std::nullopt;
}

std::shared_ptr<const ThreadEventBatch> EventRing::take(const Place& place,
                                                        const std::stop_token& stop,
                                                        const std::shared_ptr<Waiter>& waiter) {
  std::unique_lock lock(mutex_);
  while (place.batch >= first_ + batches_.size()) {
    waiter->notified_ = false;
    waiting_.push_back(waiter);
    if (waiter->woken_.wait(lock, stop, [&] { return waiter->notified_; })) continue;
    std::erase(waiting_, waiter);
    return nullptr;
  }
  if (place.batch < first_) return nullptr;
  return batches_[place.batch - first_];
}

void EventRing::wait(std::chrono::milliseconds time, const std::stop_token& stop,
                     const std::shared_ptr<Waiter>& waiter) {
  std::unique_lock lock(mutex_);
  waiter->notified_ = false;
  waiting_.push_back(waiter);
  const bool notified =
      waiter->woken_.wait_for(lock, stop, time, [&] { return waiter->notified_; });
  if (!notified) std::erase(waiting_, waiter);
}

}  // namespace skein
