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
    if (sizes.size() > 1) return;
    first_is_inside.count_down();
    others_wait.wait();
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

// Cannot take any until it is let.
class Stuck {
 public:
  void execute(GroupCommit::Batch& batch) {
    go_.wait();
    for (GroupCommit::Request* request : batch.gather())
      ++static_cast<Numbered*>(request)->executed;
  }
  void go() { go_.count_down(); }

  std::atomic<int> done{0};
  std::atomic<int> refused{0};
  GroupCommit group{{.patience = std::chrono::milliseconds(50)},
                    [this](GroupCommit::Batch& batch) { execute(batch); }};

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

}  // namespace
}  // namespace skein
