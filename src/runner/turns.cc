#include "runner/turns.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/try.h"

namespace skein {
namespace {

std::string holder_name() { return "run in process " + std::to_string(::getpid()); }

}  // namespace

Result<Lease> Turns::ask_for_lease(ThreadId thread, Opening* opening) {
  if (opening == nullptr) return store_.lease(thread, holder_name(), ttl_, std::nullopt);
  Result<Lease> lease;
  SKEIN_TRY(store_.together([&](Writes& in) {
    lease = take(in, thread);
    if (lease) opening->write(in, lease->token);
  }));
  return lease;
}

Result<Lease> Turns::take(Writes& store, ThreadId thread) const {
  return store.lease(thread, holder_name(), ttl_, std::nullopt);
}

Result<std::optional<LeaseToken>> Turns::take_lease(ThreadId thread, Opening* opening) {
  auto lease = ask_for_lease(thread, opening);
  if (!lease && lease.error().code == ErrorCode::kBusy) {
    // A process of this machine that is gone needs no time to be heard from.
    SKEIN_ASSIGN(const auto open, book_.open_of(thread));
    const auto dead = std::find_if(open.begin(), open.end(), [&](const OpenRun& entry) {
      return entry.state == OpenRun::State::kRunning && book_.is_gone(entry);
    });
    if (dead == open.end()) return std::nullopt;
    if (!store_.lease(thread, holder_name(), std::chrono::milliseconds(0), dead->token)) {
      return std::nullopt;
    }
    lease = store_.lease(thread, holder_name(), ttl_, std::nullopt);
  }
  if (lease) return lease->token;
  if (lease.error().code == ErrorCode::kBusy) return std::nullopt;
  return tl::unexpected(std::move(lease).error());
}

void Turns::give_back(ThreadId thread, LeaseToken token) {
  // A failure here costs others the time until it lapses, and nothing else.
  [[maybe_unused]] const auto given = give_back(store_, thread, token);
}

Result<void> Turns::give_back(Writes& store, ThreadId thread, LeaseToken token) {
  SKEIN_TRY(store.lease(thread, holder_name(), std::chrono::milliseconds(0), token));
  return {};
}

Result<Lease> Turns::renew(ThreadId thread, LeaseToken token) {
  return store_.lease(thread, holder_name(), ttl_, token);
}

Result<std::optional<Turn>> Turns::attempt(ThreadId thread, std::string_view run_id,
                                           Opening* opening) {
  SKEIN_ASSIGN(const auto token, take_lease(thread, opening));
  if (!token) return std::nullopt;
  if (opening != nullptr && opening->begun()) return Turn{.token = *token, .open = {}};
  auto open = book_.open_of(thread);
  if (!open) {
    give_back(thread, *token);
    return tl::unexpected(std::move(open).error());
  }
  for (const OpenRun& entry : *open) {
    if (entry.state != OpenRun::State::kPending || entry.run_id >= run_id) continue;
    if (book_.is_ours(entry) || book_.is_left(entry)) continue;
    give_back(thread, *token);
    return std::nullopt;
  }
  return Turn{.token = *token, .open = std::move(*open)};
}

Result<std::optional<Turn>> Turns::enter(const std::shared_ptr<LiveRun>& run, bool may_wait,
                                         Opening* opening) {
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = queues_[run->thread];
    if (queue.busy || queue.trying || !queue.waiting.empty()) {
      if (!may_wait) {
        return fail(ErrorCode::kBusy, "thread " + run->thread.str() + " is busy with another run");
      }
      queue.waiting.emplace(run->id, run);
      return std::nullopt;
    }
    queue.trying = true;
  }
  auto turn = attempt(run->thread, run->id, opening);
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[run->thread];
  queue.trying = false;
  if (turn && *turn) {
    queue.busy = true;
    return turn;
  }
  if (turn && may_wait) {
    queue.waiting.emplace(run->id, run);
    return turn;
  }
  if (turn) {
    turn = fail(ErrorCode::kBusy, "thread " + run->thread.str() + " is busy with another run");
  }
  forget_if_idle(run->thread);
  return turn;
}

void Turns::withdraw(LiveRun& run) {
  {
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.find(run.thread);
    if (queue != queues_.end() && queue->second.waiting.erase(run.id) > 0) {
      forget_if_idle(run.thread);
      return;
    }
  }
  if (const auto turn = run.take_unused_turn()) leave(run, turn->token);
}

void Turns::leave(LiveRun& run, std::optional<LeaseToken> held) {
  if (held) give_back(run.thread, *held);
  {
    const std::lock_guard lock(mutex_);
    queues_[run.thread].busy = false;
    forget_if_idle(run.thread);
  }
  let_next_in(run.thread);
}

void Turns::let_next_in(ThreadId thread) {
  std::shared_ptr<LiveRun> next;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(thread);
    if (found == queues_.end()) return;
    Queue& queue = found->second;
    if (queue.busy || queue.trying || queue.waiting.empty()) return;
    queue.trying = true;
    next = queue.waiting.begin()->second;
  }
  auto turn = attempt(thread, next->id, nullptr);
  std::optional<LeaseToken> unused;
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = queues_[thread];
    queue.trying = false;
    const bool waits = queue.waiting.contains(next->id);
    if (turn && *turn && waits) {
      queue.waiting.erase(next->id);
      queue.busy = true;
      next->grant(std::move(**turn));
    } else if (turn && *turn) {
      unused = (*turn)->token;
    }
    forget_if_idle(thread);
  }
  if (unused) give_back(thread, *unused);
  if (!turn) next->stop(StopReason::kRefused, turn.error());
}

void Turns::look() {
  std::vector<ThreadId> threads;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [thread, queue] : queues_) {
      if (!queue.busy && !queue.waiting.empty()) threads.push_back(thread);
    }
  }
  for (const ThreadId thread : threads) let_next_in(thread);
}

std::map<ThreadId, std::vector<std::shared_ptr<LiveRun>>> Turns::waiting() const {
  std::map<ThreadId, std::vector<std::shared_ptr<LiveRun>>> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [thread, queue] : queues_) {
    for (const auto& [id, run] : queue.waiting) found[thread].push_back(run);
  }
  return found;
}

void Turns::forget_if_idle(ThreadId thread) {
  const auto queue = queues_.find(thread);
  if (queue == queues_.end()) return;
  if (!queue->second.busy && !queue->second.trying && queue->second.waiting.empty()) {
    queues_.erase(queue);
  }
}

}  // namespace skein
