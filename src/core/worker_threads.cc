#include "core/worker_threads.h"

#include <chrono>
#include <utility>

namespace skein {
namespace {

constexpr std::chrono::seconds kWaitsForMore{5};

}  // namespace

WorkerThreads::~WorkerThreads() {
  std::unique_lock lock(mutex_);
  waiting_.end();
  ended_.wait(lock, [this] { return threads_.empty(); });
  lock.unlock();  // they need it to end
  for (std::thread& thread : over_) thread.join();
}

void WorkerThreads::start(Work work) {
  std::vector<std::thread> over;
  std::unique_lock lock(mutex_);
  over.swap(over_);
  const auto sleeper = waiting_.give(work);
  if (!sleeper) {
    std::thread thread([this, work = std::move(work)]() mutable { serve(std::move(work)); });
    const std::thread::id id = thread.get_id();
    threads_.emplace(id, std::move(thread));
  }
  lock.unlock();
  if (sleeper) sleeper->wake();
  for (std::thread& thread : over) thread.join();
}

void WorkerThreads::serve(Work work) {
  for (;;) {
    work();
    work = nullptr;
    std::unique_lock lock(mutex_);
    work = waiting_.sleep(lock, kWaitsForMore);
    if (!work) return end_thread();
  }
}

void WorkerThreads::end_thread() {
  const auto self = threads_.find(std::this_thread::get_id());
  over_.push_back(std::move(self->second));
  threads_.erase(self);
  ended_.notify_all();
}

}  // namespace skein
