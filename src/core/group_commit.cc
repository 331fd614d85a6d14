#include "core/group_commit.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "core/futex.h"

namespace skein {
namespace {

// Each request sleeps on its own word, so that waking one wakes nobody else.
enum State : std::uint32_t { kWaiting, kLeader, kDone, kRefused };

bool is_over(std::uint32_t state) { return state == kDone || state == kRefused; }

}  // namespace

GroupCommit::GroupCommit(Limits limits, Execute execute)
    : limits_(limits), execute_(std::move(execute)) {}

GroupCommit::Place GroupCommit::enqueue(Request& request) {
  const std::lock_guard lock(mutex_);
  if (is_stuck()) return Place::kRefused;
  queue_.push_back(&request);
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  return std::exchange(led_, true) ? Place::kWaits : Place::kLeads;
}

bool GroupCommit::submit(Request& request) {
  request.state_.store(kWaiting, std::memory_order_relaxed);
  const Place place = enqueue(request);
  if (place == Place::kRefused) return false;
  for (bool leads = place == Place::kLeads;;) {
    if (leads) {
      lead(request);
      return true;
    }
    const auto state = request.state_.load(std::memory_order_acquire);
    if (is_over(state)) return state != kRefused;
    leads = state == kLeader;
    if (!leads) sleep(request);
  }
}

void GroupCommit::sleep(Request& request) {
  if (limits_.patience.count() == 0) return futex_wait(request.state_, kWaiting);
  futex_wait(request.state_, kWaiting, limits_.patience);
  if (request.state_.load(std::memory_order_relaxed) == kWaiting) refuse_others_if_stuck();
}

bool GroupCommit::is_stuck() const {
  return limits_.patience.count() > 0 && idle_since_ &&
         Clock::now() - *idle_since_ >= limits_.patience;
}

void GroupCommit::refuse_others_if_stuck() {
  std::vector<Request*> refused;
  {
    const std::lock_guard lock(mutex_);
    if (!is_stuck() || queue_.size() < 2) return;
    refused.assign(queue_.begin() + 1, queue_.end());
    queue_.resize(1);
    waiting_.store(1, std::memory_order_relaxed);
  }
  for (Request* request : refused) finish(*request, kRefused);
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
  group_.idle_since_.reset();
  return std::span<Request* const>(requests_).subspan(before);
}

void GroupCommit::lead(const Request& own) {
  Batch batch(*this);
  const auto start = Clock::now();
  if (limits_.patience.count() > 0) {
    const std::lock_guard lock(mutex_);
    if (!idle_since_) idle_since_ = start;
  }
  execute_(batch);
  hand_on(batch, Clock::now() - start);
  for (Request* request : batch.all()) {
    if (request != &own) finish(*request, kDone);
  }
}

void GroupCommit::hand_on(const Batch& batch, Clock::duration took) {
  const void* next = nullptr;
  {
    const std::lock_guard lock(mutex_);
    gathering_.note(batch.all().size(), queue_.size(), took);
    if (queue_.empty()) {
      led_ = false;
      return;
    }
    // From here on the next leader may be at work, with gathering_ as its own.
    Request& first = *queue_.front();
    next = &first.state_;
    first.state_.store(kLeader, std::memory_order_release);
  }
  futex_wake(next);
}

// The request may be gone as soon as it is done.
void GroupCommit::finish(Request& request, std::uint32_t state) {
  const void* word = &request.state_;
  request.state_.store(state, std::memory_order_release);
  futex_wake(word);
}

}  // namespace skein
