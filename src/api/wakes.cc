#include "api/wakes.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "core/pause.h"
#include "skein/limits.h"

namespace skein {
namespace {

using namespace std::chrono_literals;

// How long the feed is waited for at once: how late an end of interest is noticed.
constexpr std::chrono::milliseconds kLookUp = 200ms;
constexpr std::chrono::milliseconds kAfterError = 500ms;
constexpr std::size_t kChangesAtOnce = 2'000;

std::atomic<std::uint64_t> told_so_far{1};

// The thread that a record belongs to: those of runs have keys that begin with it.
std::optional<ThreadId> thread_of(const Change& change) {
  if (change.collection.empty()) return change.thread;
  if (!change.collection.starts_with("run")) return std::nullopt;
  const auto thread = ThreadId::parse(std::string_view(change.key).substr(0, 12));
  if (!thread) return std::nullopt;
  return *thread;
}

}  // namespace

class Wakes::Impl {
 public:
  Impl(Store& store, Listener listener)
      : store_(store),
        listener_(std::move(listener)),
        follower_([this](const std::stop_token& stop) { follow(stop); }),
        teller_([this](const std::stop_token& stop) { tell(stop); }) {}

  void set_interested(bool interested) {
    const std::lock_guard lock(mutex_);
    interested_ = interested;
    changed_.notify_all();
  }

  void wake(ThreadId thread) {
    const std::lock_guard lock(mutex_);
    if (!interested_) return;
    if (pending_.insert(thread).second) to_tell_.notify_one();
  }

 private:
  bool interested() {
    const std::lock_guard lock(mutex_);
    return interested_;
  }

  void follow(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return interested_; })) return;
      }
      follow_while_interested(stop);
    }
  }

  void follow_while_interested(const std::stop_token& stop) {
    auto batch = store_.changes(Store::kNow, 1, 0ms);
    if (batch) wake_everybody();  // of what happened before the feed was followed
    while (batch && !stop.stop_requested() && interested()) {
      batch = store_.changes(batch->cursor, kChangesAtOnce, kLookUp);
      if (batch && !batch->changes.empty()) add(batch->changes);
    }
    if (!batch) pause_for(kAfterError, stop);
  }

  void wake_everybody() {
    const std::lock_guard lock(mutex_);
    everybody_ = true;
    to_tell_.notify_one();
  }

  void add(const std::vector<Change>& changes) {
    const std::lock_guard lock(mutex_);
    something_ = true;
    for (const Change& change : changes) {
      if (const auto thread = thread_of(change)) pending_.insert(*thread);
    }
    to_tell_.notify_one();
  }

  void tell(const std::stop_token& stop) {
    for (;;) {
      Woken woken;
      {
        std::unique_lock lock(mutex_);
        const bool any = to_tell_.wait(
            lock, stop, [this] { return everybody_ || something_ || !pending_.empty(); });
        if (!any) return;
        woken.everybody = std::exchange(everybody_, false);
        something_ = false;
        woken.threads.assign(pending_.begin(), pending_.end());
        pending_.clear();
      }
      ++told_so_far;
      if (listener_) listener_(woken);
    }
  }

  Store& store_;
  const Listener listener_;

  std::mutex mutex_;  // protects all below
  std::condition_variable_any changed_;
  std::condition_variable_any to_tell_;
  bool interested_ = false;
  bool everybody_ = false;
  bool something_ = false;  // that is not about one thread
  std::set<ThreadId> pending_;

  std::jthread follower_;  // both the constructor's
  std::jthread teller_;
};

Wakes::Wakes(Store& store, Listener listener)
    : impl_(std::make_unique<Impl>(store, std::move(listener))) {}
Wakes::~Wakes() = default;

void Wakes::set_interested(bool interested) { impl_->set_interested(interested); }
void Wakes::wake(ThreadId thread) { impl_->wake(thread); }
std::uint64_t Wakes::generation() { return told_so_far; }

}  // namespace skein
