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

// Batches that take longer are not for a thread that others wait for, unless there was only one now
// and then. Many requests may take their time: they are those who would wait.
constexpr std::chrono::microseconds kQuick{1000};
constexpr std::chrono::microseconds kQuickForEach{100};
constexpr int kSlow = 8;
constexpr int kSlowest = 16;

int count_slow(int slow, bool quick) {
  return quick ? std::max(slow - 1, 0) : std::min(slow + 2, kSlowest);
}

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
  request.fibers_ = Fibers::current();
  request.fiber_ = Fiber::current();
  const Place place = enqueue(request);
  if (place == Place::kRefused) return false;
  const bool leads = place == Place::kLeads;
  request.fibers_ != nullptr ? wait_as_fiber(request, leads) : wait_as_thread(request, leads);
  return request.state_.load(std::memory_order_relaxed) != kRefused;
}

void GroupCommit::wait_as_thread(Request& request, bool leads) {
  while (!leads) {
    const auto state = request.state_.load(std::memory_order_acquire);
    if (is_over(state)) return;
    leads = state == kLeader;
    if (!leads) sleep(request);
  }
  lead(true, &request);
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

void GroupCommit::wait_as_fiber(Request& request, bool leads) {
  Fibers& fibers = *request.fibers_;
  if (leads) fibers.do_last([this, &fibers] { lead_from(fibers); });
  Fibers::Work look;
  if (limits_.patience.count() > 0) look = [this] { refuse_others_if_stuck(); };
  // Also when it is over already: whoever finished it lets this fiber go on, and would do so with
  // one that is gone.
  do {
    Fibers::pause(look);
  } while (!is_over(request.state_.load(std::memory_order_acquire)));
}

void GroupCommit::lead_from(Fibers& fibers) {
  if (slow_ < kSlow && lead(false, nullptr)) return;
  fibers.do_elsewhere([this] { lead(true, nullptr); });
}

GroupCommit::Batch::Batch(GroupCommit& group, bool may_wait)
    : group_(group), may_wait_(may_wait), until_(group.gathering_.until(Clock::now())) {}

std::size_t GroupCommit::Batch::in_sight() const { return requests_.size() + group_.waiting(); }

void GroupCommit::Batch::let_others_in(bool all) {
  if (!may_wait_) return;
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

bool GroupCommit::lead(bool may_wait, const Request* own) {
  Batch batch(*this, may_wait);
  const auto start = Clock::now();
  if (limits_.patience.count() > 0) {
    const std::lock_guard lock(mutex_);
    if (!idle_since_) idle_since_ = start;
  }
  if (!execute_(batch)) return false;
  hand_on(batch, Clock::now() - start);
  for (Request* request : batch.all()) {
    if (request != own) finish(*request, kDone);
  }
  return true;
}

void GroupCommit::hand_on(const Batch& batch, Clock::duration took) {
  const void* next = nullptr;
  Fibers* fibers = nullptr;
  {
    const std::lock_guard lock(mutex_);
    gathering_.note(batch.all().size(), queue_.size(), took);
    slow_ = count_slow(slow_, took <= kQuick + batch.all().size() * kQuickForEach);
    if (queue_.empty()) {
      led_ = false;
      return;
    }
    // From here on the next leader may be at work, with gathering_ as its own.
    Request& first = *queue_.front();
    next = &first.state_;
    fibers = first.fibers_;
    if (fibers == nullptr) first.state_.store(kLeader, std::memory_order_release);
  }
  if (fibers == nullptr) {
    futex_wake(next);
  } else {
    fibers->do_last([this, fibers] { lead_from(*fibers); });
  }
}

// The request may be gone as soon as it is done.
void GroupCommit::finish(Request& request, std::uint32_t state) {
  const void* word = &request.state_;
  Fibers* const fibers = request.fibers_;
  Fiber* const fiber = request.fiber_;
  request.state_.store(state, std::memory_order_release);
  if (fibers == nullptr) {
    futex_wake(word);
  } else {
    fibers->go_on(*fiber);
  }
}

}  // namespace skein
