// Summaries that are made while somebody waits for them elsewhere.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "api/summaries.h"
#include "core/worker_threads.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxSummaryJobs = 16;  // of one process
}  // namespace limits

// One summary under way. Thread-safe.
class SummaryJob {
 public:
  // Nothing is written then, unless it is done already.
  void stop() { stop_.request_stop(); }
  SummaryProgress progress() const { return {.done = done_, .total = total_}; }
  // Nothing: it is not there yet.
  std::optional<Result<SummaryOutcome>> result() const {
    const std::lock_guard lock(mutex_);
    return result_;
  }

 private:
  friend class SummaryJobs;

  std::stop_source stop_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
  mutable std::mutex mutex_;
  std::optional<Result<SummaryOutcome>> result_;  // under mutex_
};

// Thread-safe. Borrows the store and the agents.
class SummaryJobs {
 public:
  // `ended` is told of the thread whenever a job has its result.
  SummaryJobs(Store& store, WorkspaceAgents& agents, std::function<void(ThreadId)> ended)
      : store_(store), agents_(agents), ended_(std::move(ended)) {}
  // Stops those under way, and waits for them.
  ~SummaryJobs();
  SummaryJobs(const SummaryJobs&) = delete;
  SummaryJobs& operator=(const SummaryJobs&) = delete;

  // On a thread of its own. kBusy: one is under way on that thread, or limits::kMaxSummaryJobs are
  // on others.
  Result<std::shared_ptr<SummaryJob>> start(const Manifest& thread, SummaryOptions wish);
  // The one under way on that thread, if any.
  std::shared_ptr<SummaryJob> find(ThreadId thread);

 private:
  void make(const Manifest& thread, SummaryOptions wish, SummaryJob& job);

  Store& store_;
  WorkspaceAgents& agents_;
  const std::function<void(ThreadId)> ended_;
  std::mutex mutex_;
  std::map<ThreadId, std::shared_ptr<SummaryJob>> jobs_;  // under mutex_
  WorkerThreads workers_;                                 // last: they use the others
};

}  // namespace skein
