#include "store/jsonl/thread_state.h"

namespace skein::jsonl {

Result<ThreadLock> ThreadLock::acquire(Folder& folder, ThreadState& state) {
  {
    std::unique_lock guard(state.mutex);
    state.turn.wait(guard, [&state] { return !state.writing; });
    state.writing = true;
  }
  return adopt(folder, state);
}

Result<ThreadLock> ThreadLock::adopt(Folder& folder, ThreadState& state) {
  auto lock = folder.lock(state.id.bits());
  ThreadLock held(state, lock ? std::move(*lock) : FileLock());
  if (!lock) return tl::unexpected(lock.error());
  return held;
}

void ThreadLock::release() {
  if (state_ == nullptr) return;
  lock_.release();
  {
    const std::lock_guard guard(state_->mutex);
    state_->writing = false;
  }
  state_->turn.notify_all();
  state_ = nullptr;
}

std::shared_ptr<ThreadState> ThreadCache::get(ThreadId id) {
  const std::lock_guard guard(mutex_);
  if (const auto known = states_.find(id); known != states_.end()) {
    recent_.splice(recent_.begin(), recent_, known->second.used);
    return known->second.state;
  }
  // A state is handed out under this mutex only, so that a count of one means that nobody uses it.
  for (auto at = recent_.end(); states_.size() >= capacity_ && at != recent_.begin();) {
    --at;
    const auto entry = states_.find(*at);
    if (entry->second.state.use_count() > 1) continue;
    states_.erase(entry);
    at = recent_.erase(at);
  }
  auto state = std::make_shared<ThreadState>(id);
  recent_.push_front(id);
  states_.emplace(id, Entry{state, recent_.begin()});
  return state;
}

}  // namespace skein::jsonl
