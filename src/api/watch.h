// Follows what happens to threads.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"
#include "skein/thread_events.h"

namespace skein {

struct Watch {
  std::string since;  // as in SubscribeOptions
  ThreadEventFilter filter;
  std::function<bool()> go_on;                    // asked several times a second
  std::function<bool(const ThreadEvent&)> sink;   // false ends it
  std::function<void(const std::string&)> pause;  // all that there is was told, up to this cursor
};

// Tells what there is, and then what comes, until it is told to end.
Result<void> watch_threads(Store& store, const Watch& watch);

class ThreadEventReader;

// One reader's way through the same, step by step. Not thread-safe. Borrows the store.
class ThreadEventFeed {
 public:
  // `agents`: only what belongs to these; absent: whatever the filter lets through.
  ThreadEventFeed(Store& store, std::string since, ThreadEventFilter filter,
                  std::optional<std::vector<std::string>> agents);
  ~ThreadEventFeed();
  ThreadEventFeed(ThreadEventFeed&&) noexcept;

  struct Step {
    std::vector<ThreadEvent> events;  // that match
    bool moved = false;               // there may be more right away
  };
  // kInvalid: `since` is no cursor of the feed. An error leaves the place where it was.
  Result<Step> next(std::chrono::milliseconds wait);
  // Where the next step begins.
  const std::string& cursor() const;

 private:
  std::unique_ptr<ThreadEventReader> reader_;
  ThreadEventFilter filter_;
  std::optional<std::vector<std::string>> agents_;
};

}  // namespace skein
