#include "http/langgraph/temporary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/run_states.h"

namespace skein::http {

void TemporaryThreads::add(const Run& run) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back({run.thread, run.id, false});
}

void TemporaryThreads::delivered(ThreadId thread) {
  const std::scoped_lock lock(mutex_);
  for (Entry& entry : entries_) entry.delivered = entry.delivered || entry.thread == thread;
}

void TemporaryThreads::sweep() {
  std::vector<Entry> looked_at;
  {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(looked_, true)) find_left();
    while (!entries_.empty() && looked_at.size() < kMaxAtOnce) {
      looked_at.push_back(std::move(entries_.front()));
      entries_.pop_front();
    }
  }
  std::vector<Entry> kept;
  for (Entry& entry : looked_at) {
    if (!is_due(entry)) {
      kept.push_back(std::move(entry));
    } else if (const auto removed = service_.threads().remove(entry.thread.str()); !removed) {
      service_.log("temporary thread " + entry.thread.str() + ": " + removed.error().message);
    }
  }
  const std::scoped_lock lock(mutex_);
  std::move(kept.begin(), kept.end(), std::back_inserter(entries_));
}

bool TemporaryThreads::is_due(const Entry& entry) {
  if (entry.run_id.empty()) {
    const auto busy = is_busy(service_.store(), service_.clock(), entry.thread);
    return busy && !*busy;
  }
  const auto run = service_.runner().get(entry.run_id);
  if (!run || !run->ended()) return !run && run.error().code == ErrorCode::kNotFound;
  const auto age = service_.clock().now().ms() - run->ended_at.ms();
  return entry.delivered || age > std::chrono::milliseconds(kStays).count();
}

// With mutex_ held.
void TemporaryThreads::find_left() {
  ListQuery query;
  query.metadata.push_back({std::string(kMark), Json::trusted("true")});
  const auto listed = list_threads(service_.store(), query, 10'000, [&](const Manifest& manifest) {
    // A fork took the mark along; nobody ran in it without a thread.
    if (!manifest.parent) entries_.push_back({manifest.id, "", true});
    return true;
  });
  if (!listed) service_.log("temporary threads: " + listed.error().message);
}

}  // namespace skein::http
