#include "thread/event_ring.h"

namespace skein {
namespace {

constexpr std::size_t kMostEvents = 8192;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

}  // namespace

void EventRing::restart(std::optional<std::string> cursor) {
  const std::lock_guard lock(mutex_);
  first_ += batches_.size() + 1;
  batches_.clear();
  end_ = std::move(cursor);
  events_ = 0;
  bytes_ = 0;
  published_.notify_all();
}

void EventRing::publish(ThreadEventBatch batch) {
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
  published_.notify_all();
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
                                                        const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto settled = [&] { return place.batch < first_ + batches_.size(); };
  if (!published_.wait(lock, stop, settled)) return nullptr;
  if (place.batch < first_) return nullptr;
  return batches_[place.batch - first_];
}

void EventRing::wait(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const std::uint64_t next = first_ + batches_.size();
  published_.wait_for(lock, stop, time, [&] { return first_ + batches_.size() != next; });
}

}  // namespace skein
