// Limits on how many threads are active at once, kept between processes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "skein/store.h"
#include "skein/thread_manager.h"

namespace skein {

// Places that were reserved, given back when this goes. A thread that became active meanwhile is
// counted by itself from then on.
class Reservation {
 public:
  explicit Reservation(Store& store) : store_(&store) {}
  ~Reservation();
  Reservation(Reservation&& other) noexcept
      : store_(other.store_), thread_(other.thread_), keys_(std::move(other.keys_)) {}
  Reservation& operator=(Reservation&&) = delete;

 private:
  friend class ActiveLimits;
  Store* store_;
  ThreadId thread_;
  std::vector<std::string> keys_;
};

// Thread-safe. Borrows everything.
//
// The number of active threads can be looked up, but not together with making one more. So whoever
// is about to make one first writes its id into a record of that key and value, with the version
// that it counted by: of two who count at once, one has to count again and finds the other's id.
class ActiveLimits {
 public:
  ActiveLimits(Store& store, Clock& clock, const std::vector<ActiveLimit>& limits)
      : store_(store), clock_(clock), limits_(limits) {}

  // Whether a thread with this metadata falls under a limit.
  bool apply_to(const Json& metadata) const;

  // A place for the thread, which is about to be active with this metadata. kConflict: the limit is
  // reached.
  Result<Reservation> reserve(ThreadId thread, const Json& metadata) const;

 private:
  struct Claim {
    const ActiveLimit* limit = nullptr;
    std::string value;  // canonical
    Json filter;
  };
  std::vector<Claim> claims(const Json& metadata) const;
  Result<void> reserve_one(ThreadId thread, const Claim& claim, const std::string& key) const;

  Store& store_;
  Clock& clock_;
  const std::vector<ActiveLimit>& limits_;
};

}  // namespace skein
