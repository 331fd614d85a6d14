#include "http/stream_desk.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

namespace skein::http {
namespace {

// Looked at by a thread of the pool before others get their turn. Those that were woken together
// are looked at one after the other: mostly they find the same, and would wait for each other.
constexpr std::size_t kLooksAtOnce = 128;
// Told by the I/O thread at a time, before it sees to whoever else came in the meantime.
constexpr std::size_t kTellsAtOnce = 32;
// To tell so many keeps a processor busy for a while: whoever wrote what they are told gets its
// answer first.
constexpr std::size_t kMany = 128;
constexpr std::chrono::milliseconds kAfterTheWriter{2};

}  // namespace

class StreamDesk::Place {
 public:
  explicit Place(std::shared_ptr<Ongoing> with) : ongoing(std::move(with)) {}

  // Each answers whether it is to be looked at now.
  bool wake() {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kIdle) {
      state_ = State::kLooking;
      return true;
    }
    again_ = true;
    return false;
  }
  bool taken() {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kTelling) return false;
    state_ = again_ ? State::kLooking : State::kIdle;
    return std::exchange(again_, false);
  }
  bool found(const Ongoing::Found& found) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kGone) return false;
    if (found.more) again_ = true;
    if (found.tell || found.ended) {
      state_ = State::kTelling;
      return false;
    }
    state_ = again_ ? State::kLooking : State::kIdle;
    return std::exchange(again_, false);
  }
  // False: it had left.
  bool leave() {
    const std::lock_guard lock(mutex_);
    return std::exchange(state_, State::kGone) != State::kGone;
  }
  bool is_gone() const {
    const std::lock_guard lock(mutex_);
    return state_ == State::kGone;
  }

  const std::shared_ptr<Ongoing> ongoing;
  std::vector<Topic> topics;  // the desk's

 private:
  enum class State { kIdle, kLooking, kTelling, kGone };
  mutable std::mutex mutex_;
  State state_ = State::kLooking;
  bool again_ = false;  // woken while it was not idle
};

std::shared_ptr<StreamDesk::Place> StreamDesk::add(std::shared_ptr<Ongoing> ongoing) {
  auto place = std::make_shared<Place>(std::move(ongoing));
  place->topics = place->ongoing->topics();
  {
    const std::lock_guard lock(mutex_);
    for (const Topic& topic : place->topics) {
      (topic.thread ? by_thread_[*topic.thread] : of_all_).push_back(place);
    }
    if (count_++ == 0 && on_any) on_any(true);
  }
  place->ongoing->on_wake([this, weak = std::weak_ptr(place)] {
    const auto still = weak.lock();
    if (still && still->wake()) look_soon({still});
  });
  look_soon({place});
  return place;
}

void StreamDesk::remove(const std::shared_ptr<Place>& place) {
  if (!place->leave()) return;
  const std::lock_guard lock(mutex_);
  for (const Topic& topic : place->topics) {
    Places& places = topic.thread ? by_thread_[*topic.thread] : of_all_;
    std::erase(places, place);
    if (topic.thread && places.empty()) by_thread_.erase(*topic.thread);
  }
  if (--count_ == 0 && on_any) on_any(false);
}

void StreamDesk::taken(const std::shared_ptr<Place>& place) {
  if (!place->taken()) return;
  again_.push_back(place);
  if (again_.size() == 1) io_.post_behind([this] { look_soon(std::exchange(again_, {})); });
}

void StreamDesk::wake(const Wakes::Woken& woken) {
  Places places;
  {
    const std::lock_guard lock(mutex_);
    places = of_all_;
    const auto add = [&](const Places& more) {
      places.insert(places.end(), more.begin(), more.end());
    };
    if (woken.everybody) {
      for (const auto& [thread, more] : by_thread_) add(more);
    } else {
      for (const ThreadId thread : woken.threads) {
        if (const auto found = by_thread_.find(thread); found != by_thread_.end()) {
          add(found->second);
        }
      }
    }
  }
  std::erase_if(places, [](const std::shared_ptr<Place>& place) { return !place->wake(); });
  if (places.size() > kMany) std::this_thread::sleep_for(kAfterTheWriter);
  look_soon(std::move(places));
}

std::size_t StreamDesk::size() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

void StreamDesk::look_soon(Places places) {
  if (places.empty()) return;
  pool_.submit_always([this, places = std::move(places)]() mutable {
    const std::size_t from = places.size() - std::min(places.size(), kLooksAtOnce);
    look({places.begin() + static_cast<std::ptrdiff_t>(from), places.end()});
    places.resize(from);
    look_soon(std::move(places));
  });
}

void StreamDesk::look(const Places& places) {
  std::vector<std::function<void()>> to_tell;
  Places again;
  for (const auto& place : places) {
    if (place->is_gone()) continue;
    Ongoing::Found found = place->ongoing->look();
    if (place->found(found)) again.push_back(place);
    if (found.tell) to_tell.push_back(std::move(found.tell));
  }
  if (!to_tell.empty()) tell_soon(std::move(to_tell));
  if (!again.empty()) look_soon(std::move(again));
}

void StreamDesk::tell_soon(std::vector<std::function<void()>> tells) {
  const std::lock_guard lock(telling_);
  std::move(tells.begin(), tells.end(), std::back_inserter(to_tell_));
  if (!std::exchange(is_telling_, true)) io_.post_behind([this] { tell_some(); });
}

void StreamDesk::tell_some() {
  std::vector<std::function<void()>> tells;
  {
    const std::lock_guard lock(telling_);
    while (tells.size() < kTellsAtOnce && !to_tell_.empty()) {
      tells.push_back(std::move(to_tell_.front()));
      to_tell_.pop_front();
    }
    is_telling_ = !to_tell_.empty();
    if (is_telling_) io_.post_behind([this] { tell_some(); });
  }
  for (const auto& tell : tells) tell();
}

}  // namespace skein::http
