#include "api/append_pump.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "api/wakes.h"
#include "skein/thread_manager.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

class AppendPumpTest : public testing::Test {
 protected:
  std::unique_ptr<Store> store_ = *open_store("memory:");
  ThreadManager manager_{*store_};
  AppendPump pump_{*store_};
  ThreadId thread_ = manager_.create({.agent_id = "helper"})->id;

  static Append message(ThreadId thread, const std::string& text, const std::string& key = {}) {
    Event event;
    event.payload = Message{Role::kUser, text};
    event.key = key;
    return {thread, std::move(event), {}, {}};
  }
  std::vector<Result<Appended>> append(std::vector<Append> appends) {
    std::promise<std::vector<Result<Appended>>> done;
    EXPECT_TRUE(pump_.submit(std::move(appends),
                             [&](auto results) { done.set_value(std::move(results)); }));
    return done.get_future().get();
  }
  Result<Appended> append_one(Append one) {
    std::vector<Append> appends;
    appends.push_back(std::move(one));
    return append(std::move(appends)).front();
  }
};

TEST_F(AppendPumpTest, AnswersEachInTheOrderOfTheCalls) {
  constexpr std::size_t kCalls = 500;
  std::vector<Seq> seqs;
  std::promise<void> all;
  for (std::size_t i = 0; i < kCalls; ++i) {
    std::vector<Append> appends;
    appends.push_back(message(thread_, std::to_string(i)));
    ASSERT_TRUE(pump_.submit(std::move(appends), [&](auto results) {
      seqs.push_back(results.front()->seq);
      if (seqs.size() == kCalls) all.set_value();
    }));
  }
  all.get_future().get();
  for (std::size_t i = 0; i < kCalls; ++i) EXPECT_EQ(seqs[i], i + 1);
  const AppendPump::Figures figures = pump_.figures();
  EXPECT_EQ(figures.appends, kCalls);
  EXPECT_LE(figures.batches, kCalls);
}

TEST_F(AppendPumpTest, OneRefusalFailsNoNeighbour) {
  const ThreadId closed = manager_.create({.agent_id = "helper"})->id;
  ASSERT_TRUE(manager_.close(closed.str()));
  std::vector<Append> appends;
  appends.push_back(message(thread_, "one"));
  appends.push_back(message(closed, "no"));
  appends.push_back(message(ThreadId::from_bits(1), "nowhere"));
  appends.push_back(message(thread_, "two"));
  const auto results = append(std::move(appends));
  EXPECT_EQ(results[0]->seq, 1U);
  EXPECT_EQ(results[1].error().code, ErrorCode::kConflict);
  EXPECT_NE(results[1].error().message.find("closed"), std::string::npos);
  EXPECT_EQ(results[2].error().code, ErrorCode::kNotFound);
  EXPECT_EQ(results[3]->seq, 2U);
}

TEST_F(AppendPumpTest, WhatItRemembersOfAThreadIsNeverTakenForTrue) {
  EXPECT_EQ(append_one(message(thread_, "one"))->seq, 1U);
  ASSERT_TRUE(manager_.update(thread_.str(), ManifestPatch().title("changed")));
  EXPECT_EQ(append_one(message(thread_, "two"))->seq, 2U);
  ASSERT_TRUE(manager_.close(thread_.str()));
  EXPECT_EQ(append_one(message(thread_, "three")).error().code, ErrorCode::kConflict);
  EXPECT_EQ(append_one(message(thread_, "four")).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(manager_.remove(thread_.str()));
  EXPECT_EQ(append_one(message(thread_, "five")).error().code, ErrorCode::kNotFound);
}

TEST_F(AppendPumpTest, AConflictOfTheCallersIsTheCallers) {
  Append expects = message(thread_, "one");
  expects.expect_seq = 5;
  EXPECT_EQ(append_one(expects).error().code, ErrorCode::kConflict);
  EXPECT_EQ(append_one(message(thread_, "one", "key"))->seq, 1U);
  EXPECT_TRUE(append_one(message(thread_, "one", "key"))->repeated);
  EXPECT_EQ(append_one(message(thread_, "another", "key")).error().code, ErrorCode::kConflict);
  // Known keys are answered whatever became of the thread.
  ASSERT_TRUE(manager_.close(thread_.str()));
  EXPECT_TRUE(append_one(message(thread_, "one", "key"))->repeated);
}

TEST_F(AppendPumpTest, WhoeverHasTheFenceIsNotAskedForTheStatus) {
  const auto lease = store_->lease(thread_, "test", 10s, {});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(manager_.close(thread_.str()));
  Append fenced = message(thread_, "the run's");
  fenced.fence = lease->token;
  EXPECT_EQ(append_one(fenced)->seq, 1U);
  fenced.fence = lease->token + 1;
  EXPECT_EQ(append_one(fenced).error().code, ErrorCode::kFenced);
}

TEST(Wakes, TellWhatHappenedWhileSomebodyWaits) {
  const auto store = *open_store("memory:");
  ThreadManager manager(*store);
  const ThreadId thread = manager.create({.agent_id = "helper"})->id;
  std::mutex mutex;
  std::condition_variable changed;
  int everybody = 0;
  int about_thread = 0;
  Wakes wakes(*store, [&](const Wakes::Woken& woken) {
    const std::lock_guard lock(mutex);
    if (woken.everybody) ++everybody;
    for (const ThreadId one : woken.threads) about_thread += one == thread ? 1 : 0;
    changed.notify_all();
  });
  const auto wait_for = [&](const auto& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 60s, condition);
  };
  wakes.wake(thread);  // nobody waits
  wakes.set_interested(true);
  EXPECT_TRUE(wait_for([&] { return everybody == 1; }));
  EXPECT_EQ(about_thread, 0);
  ASSERT_TRUE(manager.add_message(thread.str(), {.role = Role::kUser, .text = "hello"}));
  EXPECT_TRUE(wait_for([&] { return about_thread == 1; }));
  wakes.wake(thread);
  EXPECT_TRUE(wait_for([&] { return about_thread == 2; }));
  const RecordWrite run{"runs", thread.str() + "/some", "{}", {}, {}};
  ASSERT_TRUE(store->write({&run, 1}));
  EXPECT_TRUE(wait_for([&] { return about_thread == 3; }));
}

}  // namespace
}  // namespace skein::test
