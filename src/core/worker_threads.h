// Threads for work that may take long, as many as there is work.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "core/sleepers.h"

namespace skein {

// Whoever has done its work waits a while for more: a new thread for each costs as much as a short
// piece of work. Thread-safe.
class WorkerThreads {
 public:
  using Work = std::function<void()>;  // must not throw
  // Makes a thread that does this, or throws.
  using Make = std::function<std::thread(Work)>;

  WorkerThreads();
  explicit WorkerThreads(Make make) : make_(std::move(make)) {}
  // Waits for all work.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Begins at once. False: the system has no thread for it, and the work is left as it was.
  [[nodiscard]] bool try_start(Work& work);
  // The same for work that must be done: without a thread for it the caller does it, and returns
  // when it is done.
  void start(Work work);

 private:
  using Threads = std::list<std::thread>;
  bool add_thread(Work& work);  // with mutex_ held
  void serve(Threads::iterator self, Work work);

  const Make make_;
  std::mutex mutex_;  // protects all below
  std::condition_variable ended_;
  Sleepers waiting_;
  Threads threads_;
  Threads over_;  // about to end
};

}  // namespace skein
