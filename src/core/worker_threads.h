// Threads for work that may take long, as many as there is work.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/sleepers.h"

namespace skein {

// Whoever has done its work waits a while for more: a new thread for each costs as much as a short
// piece of work. Thread-safe.
class WorkerThreads {
 public:
  using Work = std::function<void()>;

  WorkerThreads() = default;
  // Waits for all work.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Begins at once. Must not throw.
  void start(Work work);

 private:
  void serve(Work work);
  void end_thread();  // with mutex_ held

  std::mutex mutex_;  // protects all below
  std::condition_variable ended_;
  Sleepers waiting_;
  std::map<std::thread::id, std::thread> threads_;
  std::vector<std::thread> over_;  // about to end
};

}  // namespace skein
