#include "thread/subscription_hub.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// How long the reader waits for news before it looks whether it should stop.
constexpr milliseconds kLookUp{50};
// After an error.
constexpr milliseconds kTryAgain{500};
// Subscribers are woken a few at a time, with a pause after them: so that a thousand threads do not
// stand in the way of those who append, and more comes together for the next batch.
constexpr std::size_t kWokenTogether = 16;
constexpr microseconds kPausePerSubscriber{100};

// Whether this is a subscriber's own thread.
thread_local bool calling_back = false;

void pause(std::chrono::microseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

void wake_gently(std::span<const std::shared_ptr<EventRing::Waiter>> waiters,
                 const std::stop_token& stop) {
  while (!waiters.empty()) {
    const auto some = waiters.first(std::min(waiters.size(), kWokenTogether));
    EventRing::wake(some);
    pause(kPausePerSubscriber * static_cast<long>(some.size()), stop);
    waiters = waiters.subspan(some.size());
  }
}

// Where a subscriber is: in the ring, or reading by itself.
class Follower {
 public:
  Follower(Store& store, EventRing& ring, std::string cursor)
      : store_(store), ring_(ring), cursor_(std::move(cursor)) {}

  // The next events, at least one unless `stop`; hands each of them to `sink`, which says whether
  // to go on.
  template <class Sink>
  Result<void> next(const std::stop_token& stop, const Sink& sink) {
    if (!place_) place_ = ring_.find(cursor_);
    return place_ ? next_from_ring(stop, sink) : next_from_store(stop, sink);
  }

 private:
  template <class Sink>
  Result<void> next_from_ring(const std::stop_token& stop, const Sink& sink) {
    own_.reset();
    const auto batch = ring_.take(*place_, stop, waiter_);
    if (batch == nullptr) {
      place_.reset();
      return {};
    }
    for (std::size_t i = place_->event; i < batch->events.size(); ++i) {
      if (!sink(batch->events[i])) return {};
    }
    cursor_ = batch->end;
    place_ = EventRing::Place{place_->batch + 1, 0};
    return {};
  }

  template <class Sink>
  Result<void> next_from_store(const std::stop_token& stop, const Sink& sink) {
    if (!own_) own_.emplace(store_, cursor_);
    SKEIN_ASSIGN(const ThreadEventBatch batch, own_->next(milliseconds(0)));
    for (const ThreadEvent& event : batch.events) {
      if (!sink(event)) return {};
    }
    const bool moved = std::exchange(cursor_, batch.end) != batch.end;
    if (!moved && !ring_.find(cursor_)) ring_.wait(kLookUp, stop, waiter_);
    return {};
  }

  Store& store_;
  EventRing& ring_;
  std::string cursor_;  // everything before it was handed out
  const std::shared_ptr<EventRing::Waiter> waiter_ = std::make_shared<EventRing::Waiter>();
  std::optional<EventRing::Place> place_;
  std::optional<ThreadEventReader> own_;
};

}  // namespace

Result<Subscription> SubscriptionHub::subscribe(SubscribeOptions options,
                                                ThreadEventCallback callback) {
  SKEIN_ASSIGN(const ChangeBatch here, store_.changes(options.since, 1, milliseconds(0)));
  if (options.since == Store::kNow) options.since = here.cursor;
  SubscriberId id = 0;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(leaving_, [](const Subscriber& subscriber) { return subscriber.done->load(); });
    if (subscribers_.size() >= limits::kMaxSubscribers) {
      return fail(ErrorCode::kInvalid, "a manager takes at most " +
                                           std::to_string(limits::kMaxSubscribers) +
                                           " subscribers, and has as many");
    }
    id = next_id_++;
    SKEIN_TRY(start(id, std::move(options), std::move(callback)));
  }
  return Subscription([hub = weak_from_this(), id] {
    if (const auto alive = hub.lock()) alive->unsubscribe(id);
  });
}

// Under mutex_.
Result<void> SubscriptionHub::start(SubscriberId id, SubscribeOptions options,
                                    ThreadEventCallback callback) {
  if (shut_down_) return fail(ErrorCode::kInvalid, "the manager has ended");
  try {
    if (!reader_.joinable()) {
      reader_ = std::jthread([this](const std::stop_token& stop) { read_feed(stop); });
    }
    auto done = std::make_shared<std::atomic<bool>>(false);
    std::jthread thread([this, done, options = std::move(options),
                         callback = std::move(callback)](const std::stop_token& stop) {
      serve(stop, options, callback);
      *done = true;
    });
    subscribers_.emplace(id, Subscriber{std::move(thread), std::move(done)});
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kIo, std::string("cannot start a thread: ") + error.what());
  }
  count_ = subscribers_.size();
  came_.notify_all();
  return {};
}

void SubscriptionHub::unsubscribe(SubscriberId id) {
  std::optional<Subscriber> left;  // waited for without the lock
  const std::lock_guard lock(mutex_);
  const auto found = subscribers_.find(id);
  if (found == subscribers_.end()) return;
  found->second.thread.request_stop();
  if (calling_back) {
    leaving_.push_back(std::move(found->second));
  } else {
    left = std::move(found->second);
  }
  subscribers_.erase(found);
  count_ = subscribers_.size();
}

void SubscriptionHub::shut_down() {
  std::map<SubscriberId, Subscriber> all;
  std::vector<Subscriber> left;
  std::jthread reader;
  const std::lock_guard lock(mutex_);
  shut_down_ = true;
  all.swap(subscribers_);
  left.swap(leaving_);
  reader.swap(reader_);
  for (auto& [id, subscriber] : all) subscriber.thread.request_stop();
}

bool SubscriptionHub::wait_for_subscribers(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return came_.wait(lock, stop, [this] { return count_ > 0; });
}

void SubscriptionHub::read_feed(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!wait_for_subscribers(stop)) return;
    if (auto read = read_from_now(stop); read) continue;
    // Those who wait in the ring find out by themselves what is wrong, and say so.
    ring_.restart(std::nullopt);
    pause(kTryAgain, stop);
  }
}

Result<void> SubscriptionHub::read_from_now(const std::stop_token& stop) {
  SKEIN_ASSIGN(const ChangeBatch here, store_.changes(Store::kNow, 1, milliseconds(0)));
  ring_.restart(here.cursor);
  ThreadEventReader reader(store_, here.cursor);
  while (!stop.stop_requested() && count_ > 0) {
    SKEIN_ASSIGN(ThreadEventBatch batch, reader.next(kLookUp));
    if (batch.end == batch.begin) continue;
    wake_gently(ring_.publish(std::move(batch)), stop);
  }
  return {};
}

void SubscriptionHub::serve(const std::stop_token& stop, const SubscribeOptions& options,
                            const ThreadEventCallback& callback) {
  calling_back = true;
  Follower follower(store_, ring_, options.since);
  while (!stop.stop_requested()) {
    const auto told = follower.next(stop, [&](const ThreadEvent& event) {
      if (stop.stop_requested()) return false;
      if (options.filter.matches(event)) callback(event);
      return true;
    });
    if (told) continue;
    if (options.on_error) options.on_error(told.error());
    pause(kTryAgain, stop);
  }
}

}  // namespace skein
