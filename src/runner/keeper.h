// Keeps watch over all runs of a process: renews their leases, ends those whose time is up, hears
// what other processes ask for, and lets in who waits for them. Two threads, however many runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "runner/live_run.h"
#include "runner/parts.h"

namespace skein {

class Keeper {
 public:
  using LiveRuns = std::function<std::vector<std::shared_ptr<LiveRun>>()>;

  Keeper(RunnerParts parts, LiveRuns live);
  ~Keeper();

  // There is a run to watch over. Costs nothing while runs follow one another.
  void wake();

 private:
  using Look = void (Keeper::*)(const std::vector<std::shared_ptr<LiveRun>>&);
  // Looks every so often, as long as there are runs.
  void keep(const std::stop_token& stop, std::chrono::milliseconds pause, Look look);
  void watch(const std::vector<std::shared_ptr<LiveRun>>& live);
  void renew(const std::vector<std::shared_ptr<LiveRun>>& live);

  void hear_stop_requests(const std::vector<std::shared_ptr<LiveRun>>& live);
  bool is_too_late(std::string_view run_id, bool roll_back, Timestamp asked_at) const;
  void end_late_ones(const std::vector<std::shared_ptr<LiveRun>>& live);
  void care_for_waiting();
  void renew_one(LiveRun& run);

  const RunnerParts parts_;
  const LiveRuns live_;

  std::mutex mutex_;
  std::condition_variable_any woken_;
  // Threads that sleep until there are runs. Each counts itself before it looks for the last time,
  // and whoever adds a run looks here after that: one of them sees the other.
  std::atomic<int> idle_{0};

  std::int64_t waiting_due_boot_ms_ = 0;  // the watching thread's own
  std::int64_t promise_due_boot_ms_ = 0;  // likewise

  std::jthread watcher_;
  std::jthread renewer_;
};

}  // namespace skein
