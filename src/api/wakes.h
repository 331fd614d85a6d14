// Who is to be woken when something happened: one follower of the change feed for all that wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "skein/ids.h"
#include "skein/store.h"

namespace skein {

// What something that waits is about.
struct Topic {
  // Absent: everything that happens in the store.
  std::optional<ThreadId> thread{};

  static Topic all() { return {}; }
  // Its events, its manifest, its runs, and what they say before it is stored.
  static Topic of(ThreadId thread) { return {thread}; }
};

// Follows the feed while somebody is interested, and tells what was woken; several wakes may be
// told as one. Thread-safe. Borrows the store.
class Wakes {
 public:
  struct Woken {
    bool everybody = false;         // whatever their topics: something may have been missed
    std::vector<ThreadId> threads;  // each once
  };
  // On a thread of its own; whoever waits for Topic::all() is meant each time.
  using Listener = std::function<void(const Woken& woken)>;

  Wakes(Store& store, Listener listener);
  ~Wakes();
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  // Whether anybody waits. After it became true, everybody is woken once.
  void set_interested(bool interested);

  // Grows before anybody is told of anything: what was read from a store after this was looked at
  // has all that was told until then.
  static std::uint64_t generation();

  // Something happened that the feed does not tell, such as a piece of text. Never waits.
  void wake(ThreadId thread);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein
