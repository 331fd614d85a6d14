// The subscribers of a manager, and the one reader of the feed that serves them all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "skein/store.h"
#include "skein/thread_events.h"
#include "thread/event_ring.h"

namespace skein {

// Thread-safe; owned by a manager and lent to its subscriptions. The reader puts events into the
// ring; each subscriber takes them from there on a thread of its own, or reads the feed by itself
// while its place is not in the ring. Appends know nothing of all this.
class SubscriptionHub : public std::enable_shared_from_this<SubscriptionHub> {
 public:
  explicit SubscriptionHub(Store& store) : store_(store) {}

  Result<Subscription> subscribe(SubscribeOptions options, ThreadEventCallback callback);

  // Ends everything and waits for it; not from within a callback.
  void shut_down();

 private:
  using SubscriberId = std::uint64_t;
  struct Subscriber {
    std::jthread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };

  Result<void> start(SubscriberId id, SubscribeOptions options, ThreadEventCallback callback);
  void unsubscribe(SubscriberId id);
  void read_feed(const std::stop_token& stop);
  Result<void> read_from_now(const std::stop_token& stop);
  void serve(const std::stop_token& stop, const SubscribeOptions& options,
             const ThreadEventCallback& callback);
  // Whether somebody is there; waits for the first one.
  bool wait_for_subscribers(const std::stop_token& stop);

  Store& store_;
  EventRing ring_;
  std::atomic<std::size_t> count_{0};  // of subscribers

  std::mutex mutex_;  // protects all below
  std::condition_variable_any came_;
  std::map<SubscriberId, Subscriber> subscribers_;
  std::vector<Subscriber> leaving_;  // ended from within a callback, which may still run
  SubscriberId next_id_ = 1;
  bool shut_down_ = false;
  std::jthread reader_;
};

}  // namespace skein
