#include "core/group_commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

namespace skein {
namespace {

struct Numbered : GroupCommit::Request {
  int executed = 0;
};

TEST(GroupCommit, ExecutesEveryRequestOnceAndNeverTwoBatchesAtATime) {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  GroupCommit group({}, [&](GroupCommit::Batch& batch) {
    if (inside.fetch_add(1) != 0) overlapped = true;
    for (GroupCommit::Request* request : batch.gather())
      ++static_cast<Numbered*>(request)->executed;
    inside.fetch_sub(1);
    return true;
  });
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          Numbered request;
          group.submit(request);
          if (request.executed != 1) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(overlapped);
}

TEST(GroupCommit, TakesWhatWaitsTogetherUpToItsLimits) {
  std::vector<std::size_t> sizes;
  std::latch first_is_inside(1);
  std::latch others_wait(1);
  GroupCommit group({.items = 3, .bytes = 1000}, [&](GroupCommit::Batch& batch) {
    sizes.push_back(batch.gather().size());
    if (sizes.size() > 1) return true;
    first_is_inside.count_down();
    others_wait.wait();
    return true;
  });
  std::jthread first([&] {
    Numbered request;
    group.submit(request);
  });
  first_is_inside.wait();
  std::vector<std::jthread> others;
  for (int i = 0; i < 7; ++i) {
    others.emplace_back([&] {
      Numbered request;
      group.submit(request);
    });
  }
  while (group.waiting() < 7) std::this_thread::yield();
  others_wait.count_down();
  others.clear();
  first.join();
  EXPECT_THAT(sizes, testing::ElementsAre(1, 3, 3, 1));
}

TEST(GroupCommit, LetsThoseWhoComeWhileItWorksTakePart) {
  std::vector<std::size_t> pieces;
  std::latch first_is_inside(1);
  std::latch others_wait(1);
  GroupCommit group({.items = 4, .bytes = 1000}, [&](GroupCommit::Batch& batch) {
    pieces.push_back(batch.next().size());
    if (pieces.size() == 1) {
      first_is_inside.count_down();
      others_wait.wait();
      pieces.push_back(batch.next().size());
      EXPECT_TRUE(batch.next().empty());
    }
    for (GroupCommit::Request* request : batch.all()) ++static_cast<Numbered*>(request)->executed;
    return true;
  });
  std::atomic<int> executed{0};
  const auto submit = [&] {
    Numbered request;
    group.submit(request);
    executed += request.executed;
  };
  std::jthread first(submit);
  first_is_inside.wait();
  std::vector<std::jthread> others;
  for (int i = 0; i < 5; ++i) others.emplace_back(submit);
  while (group.waiting() < 5) std::this_thread::yield();
  others_wait.count_down();
  others.clear();
  first.join();
  EXPECT_THAT(pieces, testing::ElementsAre(1, 3, 2));
  EXPECT_EQ(executed, 6);
}

// A thread with fibers, as the server has one.
class FiberThread {
 public:
  FiberThread()
      : fibers_({.wake = [this] { ++woken_; },
                 .elsewhere = [this](Fibers::Work work) { elsewhere_.emplace_back(work); }}) {}

  void start(Fibers::Work work) {
    EXPECT_TRUE(fibers_.start(std::move(work), [this] { ++over_; }));
  }
  void settle() { fibers_.settle(); }
  void tick() { fibers_.tick(); }
  // Until all are over.
  void run() {
    while (fibers_.size() > 0) {
      if (!fibers_.settle()) std::this_thread::yield();
    }
  }
  int over() const { return over_; }
  int woken() const { return woken_; }
  std::size_t led_elsewhere() const { return elsewhere_.size(); }

 private:
  std::atomic<int> woken_{0};
  int over_ = 0;
  Fibers fibers_;
  std::vector<std::jthread> elsewhere_;
};

TEST(GroupCommit, MakesOneBatchOfAllFibersOfAThread) {
  std::vector<std::size_t> sizes;
  GroupCommit group({}, [&](GroupCommit::Batch& batch) {
    EXPECT_FALSE(batch.may_wait());
    sizes.push_back(batch.next().size());
    return true;
  });
  FiberThread thread;
  for (int i = 0; i < 5; ++i) {
    thread.start([&] {
      Numbered twice[2];
      group.submit(twice[0]);
      group.submit(twice[1]);
    });
  }
  EXPECT_TRUE(sizes.empty()) << "others may still come";
  thread.run();
  EXPECT_THAT(sizes, testing::ElementsAre(5, 5));
  EXPECT_EQ(thread.over(), 5);
  EXPECT_EQ(thread.led_elsewhere(), 0U);
}

TEST(GroupCommit, IsLedElsewhereWhereItWouldHaveToWait) {
  const auto own = std::this_thread::get_id();
  int refused = 0;
  int executed = 0;
  GroupCommit group({}, [&](GroupCommit::Batch& batch) {
    if (!batch.may_wait()) {
      ++refused;
      return false;
    }
    EXPECT_NE(std::this_thread::get_id(), own);
    executed += static_cast<int>(batch.gather().size());
    return true;
  });
  FiberThread thread;
  for (int i = 0; i < 3; ++i) {
    thread.start([&] {
      Numbered request;
      group.submit(request);
    });
  }
  thread.run();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(executed, 3);
  EXPECT_EQ(thread.over(), 3);
  EXPECT_GT(thread.woken(), 0);
}

TEST(GroupCommit, IsLedElsewhereWhileItIsSlow) {
  bool slow = true;
  std::vector<bool> waited;
  GroupCommit group({}, [&](GroupCommit::Batch& batch) {
    waited.push_back(batch.may_wait());
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    batch.next();
    return true;
  });
  const auto submit_some = [&](int times) {
    FiberThread thread;
    thread.start([&] {
      for (int i = 0; i < times; ++i) {
        Numbered request;
        group.submit(request);
      }
    });
    thread.run();
  };
  submit_some(1);
  EXPECT_FALSE(waited.back()) << "one slow batch is no reason";
  submit_some(20);
  EXPECT_TRUE(waited.back());
  slow = false;
  submit_some(200);
  EXPECT_FALSE(waited.back()) << "it is quick again";
}

TEST(GroupCommit, ServesThreadsAndFibersTogether) {
  std::atomic<int> executed{0};
  GroupCommit group({}, [&](GroupCommit::Batch& batch) {
    for (GroupCommit::Request* request : batch.gather()) {
      ++static_cast<Numbered*>(request)->executed;
      ++executed;
    }
    return true;
  });
  std::atomic<int> wrong{0};
  const auto submit_many = [&] {
    for (int n = 0; n < 300; ++n) {
      Numbered request;
      group.submit(request);
      if (request.executed != 1) ++wrong;
    }
  };
  FiberThread thread;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(submit_many);
  for (int i = 0; i < 4; ++i) thread.start(submit_many);
  thread.run();
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(executed, 8 * 300);
  EXPECT_EQ(thread.over(), 4);
}

TEST(GroupCommit, LetsFibersGoOnOnceThatAreFinishedBeforeTheyWait) {
  constexpr int kFibers = 50'000;
  GroupCommit group({}, [](GroupCommit::Batch& batch) {
    batch.next();
    return true;
  });
  FiberThread thread;
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      Numbered request;
      group.submit(request);
    }
  });
  for (int i = 0; i < kFibers; ++i) {
    thread.start([&] {
      Numbered request;
      group.submit(request);
    });
    thread.run();
  }
  other = {};
  thread.settle();  // nobody is left to go on
  EXPECT_EQ(thread.over(), kFibers);
}

// Cannot take any until it is let.
class Stuck {
 public:
  bool execute(GroupCommit::Batch& batch) {
    if (!batch.may_wait()) return false;
    go_.wait();
    for (GroupCommit::Request* request : batch.gather())
      ++static_cast<Numbered*>(request)->executed;
    return true;
  }
  void go() { go_.count_down(); }

  std::atomic<int> done{0};
  std::atomic<int> refused{0};
  GroupCommit group{{.patience = std::chrono::milliseconds(50)},
                    [this](GroupCommit::Batch& batch) { return execute(batch); }};

  void submit() {
    Numbered request;
    const bool accepted = group.submit(request);
    EXPECT_EQ(request.executed, accepted ? 1 : 0);
    ++(accepted ? done : refused);
  }

 private:
  std::latch go_{1};
};

TEST(GroupCommit, RefusesAllButTheFirstWhenItCannotBegin) {
  Stuck stuck;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) threads.emplace_back([&] { stuck.submit(); });
  while (stuck.refused < 4) std::this_thread::yield();
  stuck.submit();  // is not kept waiting at all
  EXPECT_EQ(stuck.refused, 5);
  stuck.go();
  threads.clear();
  EXPECT_EQ(stuck.done, 1);
  stuck.submit();
  EXPECT_EQ(stuck.done, 2);
}

TEST(GroupCommit, RefusesFibersToo) {
  Stuck stuck;
  FiberThread thread;
  for (int i = 0; i < 3; ++i) thread.start([&] { stuck.submit(); });
  while (stuck.refused < 2) {
    thread.tick();
    thread.settle();
    std::this_thread::yield();
  }
  thread.start([&] { stuck.submit(); });
  EXPECT_EQ(stuck.refused, 3);
  stuck.go();
  thread.run();
  EXPECT_EQ(stuck.done, 1);
}

}  // namespace
}  // namespace skein
