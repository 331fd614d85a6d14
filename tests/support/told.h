// What a subscriber was told so far, for a test to wait on.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "skein/thread_events.h"
#include "support/builders.h"

namespace skein::test {

// Thread-safe. Events are noted as "created 0123456789ab", "message 0123456789ab hello".
class Told {
 public:
  void note(const ThreadEvent& event) {
    std::string line = std::string(to_string(event.kind)).substr(7) + " " + event.thread.str();
    if (event.message) line += " " + text_of(*event.message);
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    cursor_ = event.cursor;
    noted_.notify_all();
  }
  ThreadEventCallback callback() {
    return [this](const ThreadEvent& event) { note(event); };
  }

  // The first `count` lines, once there are as many; fails the test after a minute.
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    const bool came =
        noted_.wait_for(lock, std::chrono::minutes(1), [&] { return lines_.size() >= count; });
    EXPECT_TRUE(came) << "only " << lines_.size() << " events of " << count;
    return lines_;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::string cursor() {
    const std::lock_guard lock(mutex_);
    return cursor_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable noted_;
  std::vector<std::string> lines_;
  std::string cursor_;
};

}  // namespace skein::test
