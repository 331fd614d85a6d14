#include "core/worker_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <system_error>

namespace skein::test {
namespace {

class WorkerThreadsTest : public testing::Test {
 protected:
  // Until it is let go, so that its thread is busy.
  WorkerThreads::Work wait() {
    return [this] {
      ++begun_;
      go_.wait(false);
    };
  }
  void let_go() {
    go_ = true;
    go_.notify_all();
  }
  std::thread make(WorkerThreads::Work work) const {
    if (none_left_) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(work));
  }

  std::atomic<bool> none_left_{false};
  std::atomic<bool> go_{false};
  std::atomic<int> begun_{0};
  WorkerThreads threads_{[this](WorkerThreads::Work work) { return make(std::move(work)); }};
};

TEST_F(WorkerThreadsTest, SayThatThereIsNoneAndLeaveTheWorkAsItWas) {
  WorkerThreads::Work first = wait();
  ASSERT_TRUE(threads_.try_start(first));
  none_left_ = true;
  WorkerThreads::Work second = wait();
  EXPECT_FALSE(threads_.try_start(second));
  ASSERT_TRUE(second) << "it was taken";
  none_left_ = false;
  EXPECT_TRUE(threads_.try_start(second));
  while (begun_ < 2) std::this_thread::yield();
  let_go();
}

TEST_F(WorkerThreadsTest, DoWhatMustBeDoneOnTheCallersWhenThereIsNone) {
  none_left_ = true;
  std::thread::id who;
  threads_.start([&] { who = std::this_thread::get_id(); });
  EXPECT_EQ(who, std::this_thread::get_id());
}

TEST_F(WorkerThreadsTest, TakeMoreWorkWhenTheirsIsDone) {
  std::atomic<bool> done{false};
  WorkerThreads::Work first = [&] { done = true; };
  ASSERT_TRUE(threads_.try_start(first));
  while (!done) std::this_thread::yield();
  none_left_ = true;  // so that it can be no other, once that one sleeps
  WorkerThreads::Work second = wait();
  while (!threads_.try_start(second)) std::this_thread::yield();
  while (begun_ < 1) std::this_thread::yield();
  let_go();
}

}  // namespace
}  // namespace skein::test
