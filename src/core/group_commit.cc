#include "core/group_commit.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "core/futex.h"

namespace skein {
namespace {

// Each request sleeps on its own word, so that waking one wakes nobody else.
enum State : std::uint32_t { kWaiting, kLeader, kDone };

}  // namespace

GroupCommit::GroupCommit(Limits limits, Execute execute)
    : limits_(limits), execute_(std::move(execute)) {}

void GroupCommit::submit(Request& request) {
  request.state_.store(kWaiting, std::memory_order_relaxed);
  bool leads = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(&request);
    waiting_.store(queue_.size(), std::memory_order_relaxed);
    leads = !std::exchange(led_, true);
  }
  while (!leads) {
    const auto state = request.state_.load(std::memory_order_acquire);
    if (state == kDone) return;
    leads = state == kLeader;
    if (!leads) futex_wait(request.state_, kWaiting);
  }
  lead(request);
}

GroupCommit::Batch::Batch(GroupCommit& group)
    : group_(group), until_(group.gathering_.until(Clock::now())) {}

std::size_t GroupCommit::Batch::in_sight() const { return requests_.size() + group_.waiting(); }

void GroupCommit::Batch::let_others_in(bool all) {
  Gathering& gathering = group_.gathering_;
  const std::size_t first = in_sight();
  std::size_t seen = first;
  const auto missing = [&] {
    return seen < gathering.expected() && (all || group_.waiting() == 0);
  };
  if (!missing()) return;
  auto now = Clock::now();
  for (auto quiet = now + gathering.patience(); missing() && now < std::min(until_, quiet);) {
    ::sched_yield();
    now = Clock::now();
    const std::size_t before = std::exchange(seen, in_sight());
    if (seen != before) quiet = now + gathering.patience();
  }
  gathering.note_waiting(seen > first);
}

std::span<GroupCommit::Request* const> GroupCommit::Batch::gather() {
  let_others_in(true);
  return take();
}

std::span<GroupCommit::Request* const> GroupCommit::Batch::next() {
  let_others_in(false);
  return take();
}

std::span<GroupCommit::Request* const> GroupCommit::Batch::take() {
  const std::size_t before = requests_.size();
  const std::lock_guard lock(group_.mutex_);
  auto& queue = group_.queue_;
  while (!queue.empty()) {
    Request* next = queue.front();
    const bool fits = items_ + next->items <= group_.limits_.items &&
                      bytes_ + next->bytes <= group_.limits_.bytes;
    if (!requests_.empty() && !fits) break;
    items_ += next->items;
    bytes_ += next->bytes;
    requests_.push_back(next);
    queue.pop_front();
  }
  group_.waiting_.store(queue.size(), std::memory_order_relaxed);
  return std::span<Request* const>(requests_).subspan(before);
}

void GroupCommit::lead(Request& own) {
  Batch batch(*this);
  const auto start = Clock::now();
  execute_(batch);
  const Clock::duration took = Clock::now() - start;

  const void* next = nullptr;
  {
    const std::lock_guard lock(mutex_);
    gathering_.note(batch.all().size(), queue_.size(), took);
    if (queue_.empty()) {
      led_ = false;
    } else {
      // From here on the next leader may be at work, with gathering_ as its own.
      next = &queue_.front()->state_;
      queue_.front()->state_.store(kLeader, std::memory_order_release);
    }
  }
  if (next != nullptr) futex_wake(next);
  for (Request* request : batch.all()) {
    if (request == &own) continue;
    const void* word = &request->state_;
    request->state_.store(kDone, std::memory_order_release);
    futex_wake(word);
  }
}

}  // namespace skein
