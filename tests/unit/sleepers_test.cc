#include "core/sleepers.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace skein::test {
namespace {

class SleepersTest : public testing::Test {
 protected:
  // A thread that sleeps until it gets work, does it, and ends.
  void add_sleeper() {
    std::size_t before = 0;
    {
      const std::lock_guard lock(mutex_);
      before = sleepers_.size();
    }
    threads_.emplace_back([this] {
      std::unique_lock lock(mutex_);
      const auto work = sleepers_.sleep(lock, std::chrono::hours(1));
      lock.unlock();
      if (work) work();
    });
    for (;;) {
      const std::lock_guard lock(mutex_);
      if (sleepers_.size() > before) return;
    }
  }
  // Who did it.
  std::thread::id give_work() {
    std::thread::id who;
    Sleepers::Work work = [&] { who = std::this_thread::get_id(); };
    std::shared_ptr<Sleepers::Sleeper> chosen;
    {
      const std::lock_guard lock(mutex_);
      chosen = sleepers_.give(work);
    }
    if (!chosen) return {};
    chosen->wake();
    for (auto& thread : threads_) {
      if (thread.get_id() == last_id_) thread.join();
    }
    return who;
  }

  std::mutex mutex_;
  Sleepers sleepers_;
  std::vector<std::thread> threads_;
  std::thread::id last_id_;
};

TEST_F(SleepersTest, AreWokenLastComeFirst) {
  for (int i = 0; i < 3; ++i) add_sleeper();
  std::vector<std::thread::id> ids;
  for (auto& thread : threads_) ids.push_back(thread.get_id());
  for (int i = 2; i >= 0; --i) {
    last_id_ = ids[static_cast<std::size_t>(i)];
    EXPECT_EQ(give_work(), last_id_);
  }
  Sleepers::Work work = [] {};
  EXPECT_EQ(sleepers_.give(work), nullptr);
  EXPECT_TRUE(work) << "nobody took it";
}

TEST_F(SleepersTest, WakeWithoutWorkInTheEnd) {
  for (int i = 0; i < 3; ++i) add_sleeper();
  {
    const std::lock_guard lock(mutex_);
    sleepers_.end();
  }
  for (auto& thread : threads_) thread.join();
  std::unique_lock lock(mutex_);
  EXPECT_EQ(sleepers_.size(), 0U);
  EXPECT_FALSE(sleepers_.sleep(lock, std::chrono::hours(1)));
}

}  // namespace
}  // namespace skein::test
