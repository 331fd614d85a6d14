// Waiting that ends early when it should.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace skein {

// False: a stop was asked for, before or while it waited.
inline bool pause_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  if (time.count() > 0) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
  }
  return !stop.stop_requested();
}

}  // namespace skein
