// All answers that go on, and when to look at each of them again.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/wakes.h"
#include "http/io.h"
#include "http/pool.h"
#include "http/response.h"

namespace skein::http {

// One of them: what is looked at, and what becomes of what was found.
class Ongoing {
 public:
  virtual ~Ongoing() = default;
  virtual std::vector<Topic> topics() const = 0;
  virtual void on_wake(std::function<void()> wake) { (void)wake; }
  // On a thread of the pool, one at a time.
  struct Found {
    // Called on the I/O thread, where Ongoing's user answers; then taken() goes on. Absent: there
    // was nothing.
    std::function<void()> tell;
    bool more = false;
    bool ended = false;
  };
  virtual Found look() = 0;
};

// Each is looked at when it comes, and again whenever one of its topics was woken, but not before
// what was found last was taken. Thread-safe. Borrows its arguments.
class StreamDesk {
 public:
  StreamDesk(Pool& pool, IoThread& io) : pool_(pool), io_(io) {}

  // Told when the number of them leaves or becomes 0; must not call the desk. Set before the first.
  std::function<void(bool any)> on_any;

  class Place;
  std::shared_ptr<Place> add(std::shared_ptr<Ongoing> ongoing);
  // What was told has been taken by the client.
  void taken(const std::shared_ptr<Place>& place);
  void remove(const std::shared_ptr<Place>& place);

  void wake(const Wakes::Woken& woken);
  std::size_t size() const;

 private:
  using Places = std::vector<std::shared_ptr<Place>>;
  void look_soon(Places places);
  void look(const Places& places);
  void tell_soon(std::vector<std::function<void()>> tells);
  void tell_some();  // on the I/O thread

  Pool& pool_;
  IoThread& io_;
  mutable std::mutex mutex_;  // protects the next three
  std::unordered_map<ThreadId, Places> by_thread_;
  Places of_all_;
  std::size_t count_ = 0;

  std::mutex telling_;  // protects:
  std::deque<std::function<void()>> to_tell_;
  bool is_telling_ = false;

  Places again_;  // the I/O thread's: to be looked at again, all of them at once
};

}  // namespace skein::http
