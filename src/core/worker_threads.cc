#include "core/worker_threads.h"

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

namespace skein {
namespace {

constexpr std::chrono::seconds kWaitsForMore{5};

}  // namespace

WorkerThreads::WorkerThreads()
    : WorkerThreads([](Work work) { return std::thread(std::move(work)); }) {}

WorkerThreads::~WorkerThreads() {
  std::unique_lock lock(mutex_);
  waiting_.end();
  ended_.wait(lock, [this] { return threads_.empty(); });
  lock.unlock();  // they need it to end
  for (std::thread& thread : over_) thread.join();
}

bool WorkerThreads::try_start(Work& work) {
  Threads over;
  std::unique_lock lock(mutex_);
  over.swap(over_);
  const auto sleeper = waiting_.give(work);
  const bool begun = sleeper != nullptr || add_thread(work);
  lock.unlock();
  if (sleeper) sleeper->wake();
  for (std::thread& thread : over) thread.join();
  return begun;
}

void WorkerThreads::start(Work work) {
  if (!try_start(work)) work();
}

bool WorkerThreads::add_thread(Work& work) {
  Threads fresh;  // its place is there before it is: from then on nothing can fail
  std::shared_ptr<Work> job;
  try {
    const auto place = fresh.emplace(fresh.end());
    job = std::make_shared<Work>(std::move(work));
    *place = make_([this, place, job] { serve(place, std::move(*job)); });
  } catch (const std::exception&) {
    if (job) work = std::move(*job);
    return false;
  }
  threads_.splice(threads_.end(), fresh);
  return true;
}

void WorkerThreads::serve(Threads::iterator self, Work work) {
  for (;;) {
    work();
    work = nullptr;
    std::unique_lock lock(mutex_);
    work = waiting_.sleep(lock, kWaitsForMore);
    if (work) continue;
    over_.splice(over_.end(), threads_, self);
    ended_.notify_all();
    return;
  }
}

}  // namespace skein
