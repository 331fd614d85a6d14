#include "core/fibers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace skein {
namespace {

using testing::ElementsAre;

TEST(Fiber, GoesOnWhereItPaused) {
  std::vector<int> order;
  Fiber fiber([&] {
    order.push_back(1);
    Fiber::current()->pause();
    order.push_back(3);
  });
  EXPECT_EQ(Fiber::current(), nullptr);
  fiber.resume();
  order.push_back(2);
  EXPECT_FALSE(fiber.is_over());
  fiber.resume();
  EXPECT_TRUE(fiber.is_over());
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Fiber, NeedNotBegin) {
  const Fiber fiber([] { FAIL() << "nobody resumed it"; });
}

TEST(Fiber, KeepsItsVariablesAndCatchesItsExceptions) {
  std::string caught;
  const auto work = [&](int depth, const auto& self) -> void {
    char much[4096];
    much[0] = static_cast<char>(depth);
    if (depth == 0) throw std::runtime_error("deep");
    Fiber::current()->pause();
    self(depth - 1, self);
    EXPECT_EQ(much[0], depth);
  };
  Fiber fiber([&] {
    try {
      work(100, work);
    } catch (const std::exception& error) {
      caught = error.what();
    }
  });
  while (!fiber.is_over()) fiber.resume();
  EXPECT_EQ(caught, "deep");
}

TEST(Fiber, LetsGoOfItsWorkWhenItIsOver) {
  auto held = std::make_shared<int>(1);
  Fiber fiber([held] { Fiber::current()->pause(); });
  fiber.resume();
  EXPECT_EQ(held.use_count(), 2);
  fiber.resume();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Fibers, DoWhatIsLastWhenNobodyCanGoOn) {
  std::vector<std::string> order;
  Fibers fibers({.wake = [] { FAIL() << "it is the thread itself"; }, .elsewhere = {}});
  for (const char* name : {"a", "b"}) {
    const bool begun = fibers.start(
        [&order, name] {
          Fibers& own = *Fibers::current();
          Fiber& self = *Fiber::current();
          order.push_back(std::string(name) + " waits");
          own.do_last([&order, &own, &self, name] {
            order.push_back(std::string("for ") + name);
            own.go_on(self);
          });
          Fibers::pause();
          order.push_back(std::string(name) + " goes on");
        },
        [&order, name] {
          EXPECT_EQ(Fiber::current(), nullptr);
          order.push_back(std::string("after ") + name);
        });
    EXPECT_TRUE(begun);
  }
  EXPECT_EQ(fibers.size(), 2U);
  EXPECT_TRUE(fibers.settle());
  EXPECT_TRUE(fibers.settle());
  EXPECT_FALSE(fibers.settle());
  EXPECT_EQ(fibers.size(), 0U);
  EXPECT_THAT(order, ElementsAre("a waits", "b waits", "for a", "for b", "a goes on", "after a",
                                 "b goes on", "after b"));
}

TEST(Fibers, StartOthersFromWhatFollows) {
  Fibers fibers({.wake = [] {}, .elsewhere = {}});
  int count = 0;
  std::function<void()> again = [&] {
    if (++count < 5) EXPECT_TRUE(fibers.start([] {}, again));
  };
  EXPECT_TRUE(fibers.start([] {}, again));
  EXPECT_EQ(count, 5);
  EXPECT_EQ(fibers.size(), 0U);
}

TEST(Fibers, LookAtEachTickWhileTheyWait) {
  Fibers fibers({.wake = [] { FAIL() << "it is the thread itself"; }, .elsewhere = {}});
  int looks = 0;
  const bool begun = fibers.start(
      [&] {
        Fibers& own = *Fibers::current();
        Fiber& self = *Fiber::current();
        Fibers::pause([&] {
          EXPECT_EQ(Fiber::current(), nullptr);
          if (++looks == 3) own.go_on(self);
        });
        own.do_last([&] { own.go_on(self); });
        Fibers::pause();
      },
      [] {});
  EXPECT_TRUE(begun);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(fibers.settle());
    fibers.tick();
  }
  EXPECT_TRUE(fibers.settle());
  fibers.tick();
  EXPECT_EQ(looks, 3) << "it waits for something else";
  EXPECT_TRUE(fibers.settle());
  EXPECT_TRUE(fibers.settle());
  EXPECT_EQ(fibers.size(), 0U);
}

TEST(Fibers, AreWokenByOtherThreads) {
  std::atomic<int> woken{0};
  Fibers fibers({.wake = [&] { ++woken; }, .elsewhere = {}});
  std::jthread other;
  bool went_on = false;
  const bool begun = fibers.start(
      [&] {
        other = std::jthread([&own = *Fibers::current(), &self = *Fiber::current()] {
          EXPECT_EQ(Fibers::current(), nullptr);
          own.go_on(self);
        });
        Fibers::pause();
        went_on = true;
      },
      [] {});
  EXPECT_TRUE(begun);
  EXPECT_FALSE(went_on);
  while (fibers.size() > 0) {
    if (!fibers.settle()) std::this_thread::yield();
  }
  EXPECT_TRUE(went_on);
  other.join();
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace skein
