// Runs whose process is stopped past its lease, or killed.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <random>
#include <sstream>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/process.h"
#include "skein/runner.h"
#include "support/runs.h"

namespace skein::crash {
namespace {

using test::gist;
using test::metadata_of;

class Runs : public testing::TestWithParam<std::string> {
 protected:
  // A worker that has stored some steps.
  struct Worker {
    Worker(const Spawn& spawn, std::string said_path) : said(std::move(said_path)), child(spawn) {}

    std::string run_id() const {
      const std::string text = read_file(said);
      const std::size_t begin = text.find("run ");
      return begin == std::string::npos ? "" : text.substr(begin + 4, 36);
    }
    long stored() const {
      const std::string text = read_file(said);
      const std::size_t begin = text.rfind("stored ");
      return begin == std::string::npos ? 0 : std::atol(text.c_str() + begin + 7);
    }

    const std::string said;
    Child child;
  };

  ThreadId new_thread() {
    NewThread thread;
    thread.agent_id = "agent";
    return store_->create(thread).value().id;
  }
  std::unique_ptr<Worker> start(ThreadId thread, int lease_ms, int steps, long wait_for_steps,
                                std::optional<int> sleep_after_ms = std::nullopt) {
    const std::string said = folder_ / fmt::format("said{}", ++workers_);
    Spawn spawn{.command = {program("run_worker"), url_, thread.str(), std::to_string(lease_ms),
                            std::to_string(steps)}};
    if (sleep_after_ms) spawn.command.push_back(std::to_string(*sleep_after_ms));
    spawn.stdout_path = spawn.stderr_path = said;
    auto worker = std::make_unique<Worker>(spawn, said);
    EXPECT_TRUE(wait_until([&] { return worker->stored() >= wait_for_steps; })) << read_file(said);
    return worker;
  }
  std::vector<Event> events(ThreadId thread) {
    std::vector<Event> found;
    EXPECT_TRUE(store_->read(thread, {}, [&](Event& event) {
      found.push_back(std::move(event));
      return true;
    }));
    return found;
  }
  RunnerOptions options() {
    RunnerOptions options;
    options.titles = false;
    return options;
  }

  const TempFolder folder_;
  const std::string url_ = store_url(GetParam(), folder_.path());
  std::unique_ptr<Store> store_ = open_store(url_).value();
  test::ScriptedAgents agents_;
  int workers_ = 0;
};

TEST_P(Runs, ThatSleptPastTheirLeaseWriteNothingAfterAnotherTookOver) {
  const int takeovers = rounds(3, 200);
  std::mt19937_64 random(8);
  for (int i = 0; i < takeovers; ++i) {
    const ThreadId thread = new_thread();
    const auto first = start(thread, 60, 0, 1, static_cast<int>(random() % 20));
    ASSERT_TRUE(first->child.wait_stopped()) << read_file(first->said);

    Runner runner(*store_, agents_, options());
    const auto second = runner.execute(run_request("agent", thread.str(), "mine now"));
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->response, "re: mine now");
    const std::vector<Event> before = events(thread);

    first->child.signal(SIGCONT);
    const Exit exit = first->child.wait(std::chrono::seconds(60));
    EXPECT_TRUE(exit.clean()) << exit.str() << "\n" << read_file(first->said);
    EXPECT_TRUE(read_file(first->said).ends_with("ended fenced\n")) << read_file(first->said);

    const std::vector<Event> after = events(thread);
    ASSERT_EQ(after.size(), before.size()) << gist(after.back());
    bool taken_over = false;
    for (const Event& event : after) {
      const bool of_second = metadata_of(event, "runId") == second->run.id;
      taken_over = taken_over || of_second;
      EXPECT_EQ(of_second, taken_over) << gist(event);
    }
    EXPECT_EQ(runner.get(first->run_id()).value().status, RunStatus::kInterrupted);
    EXPECT_EQ(runner.get(second->run.id).value().status, RunStatus::kSuccess);
    EXPECT_TRUE(store_->scan({.collection = "runs_open", .from = {}, .to = {}})->empty());
    // The thread takes new runs at once: the first gave nothing away that was not its own.
    EXPECT_TRUE(runner.execute(run_request("agent", thread.str(), "and again")));
  }
  figure(fmt::format("{}: {} runs slept past their lease, no write of theirs after the takeover",
                     GetParam(), takeovers));
}

// The control: a run that nobody replaced goes on, however long it slept.
TEST_P(Runs, ThatSleptAndWereNotReplacedGoOn) {
  const ThreadId thread = new_thread();
  const auto worker = start(thread, 30, 40, 3);
  worker->child.signal(SIGSTOP);
  ASSERT_TRUE(worker->child.wait_stopped());
  pause_for(std::chrono::milliseconds(100));
  worker->child.signal(SIGCONT);
  EXPECT_TRUE(worker->child.wait(std::chrono::seconds(60)).clean());
  EXPECT_TRUE(read_file(worker->said).ends_with("ended success\n")) << read_file(worker->said);
  EXPECT_EQ(gist(events(thread).back()), "assistant: done");
}

TEST_P(Runs, KilledInTheMiddleLeaveWhatTheyWroteAndAreClosedAtTheNextStart) {
  const int kills = rounds(4, 200);
  std::mt19937_64 random(9);
  std::uint64_t kept = 0;
  for (int i = 0; i < kills; ++i) {
    const ThreadId thread = new_thread();
    // A lease that outlives it by far: the next start does not wait for that.
    const auto worker = start(thread, 600'000, 0, 1 + static_cast<long>(random() % 20));
    pause_for(std::chrono::microseconds(random() % 3000));
    worker->child.kill();
    const long stored = worker->stored();

    Runner runner(*store_, agents_, options());
    const auto recovered = runner.recover();
    ASSERT_TRUE(recovered) << recovered.error().message;
    EXPECT_EQ(recovered->closed, 1U);
    const skein::Run closed = runner.get(worker->run_id()).value();
    EXPECT_EQ(closed.status, RunStatus::kInterrupted);
    const std::vector<Event> left = events(thread);
    ASSERT_GE(left.size(), 1 + static_cast<std::size_t>(stored));
    EXPECT_EQ(gist(left[0]), "user: work");
    for (std::size_t step = 1; step < left.size(); ++step) {
      EXPECT_EQ(gist(left[step]), fmt::format("assistant_text: step {}", step));
    }
    EXPECT_EQ(closed.last_seq, left.back().seq);
    kept += left.size();

    const auto next = runner.execute(run_request("agent", thread.str(), "go on"));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->response, "re: go on");
  }
  figure(fmt::format("{}: {} streaming runs killed, all {} events kept, each closed at the start",
                     GetParam(), kills, kept));
}

// Without a start in between: the next run on the thread does the same.
TEST_P(Runs, KilledInTheMiddleAreClosedByTheNextRunOnTheirThread) {
  const ThreadId thread = new_thread();
  const auto worker = start(thread, 600'000, 0, 2);
  worker->child.kill();
  Runner runner(*store_, agents_, options());
  EXPECT_TRUE(runner.execute(run_request("agent", thread.str(), "go on")));
  EXPECT_EQ(runner.get(worker->run_id()).value().status, RunStatus::kInterrupted);
}

TEST_P(Runs, OfSeveralProcessesTakeTurnsInTheOrderInWhichTheyCame) {
  const ThreadId thread = new_thread();
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(start(thread, 10'000, 600, 1));
  Runner runner(*store_, agents_, options());
  for (std::size_t waiting = 1; waiting <= 3; ++waiting) {
    workers.push_back(start(thread, 10'000, 3, 0));
    ASSERT_TRUE(wait_until([&] {
      return runner.list({.thread = thread, .status = RunStatus::kPending}).value().size() ==
             waiting;
    }));
  }
  for (const auto& worker : workers) {
    EXPECT_TRUE(worker->child.wait(std::chrono::seconds(60)).clean());
    EXPECT_TRUE(read_file(worker->said).ends_with("ended success\n")) << read_file(worker->said);
  }
  std::vector<std::string> order;
  for (const Event& event : events(thread)) {
    const std::string run = metadata_of(event, "runId");
    if (order.empty() || order.back() != run) order.push_back(run);
  }
  std::vector<std::string> expected;
  for (const auto& worker : workers) expected.push_back(worker->run_id());
  EXPECT_EQ(order, expected);
}

TEST_P(Runs, OfAnotherProcessAreStoppedByCancel) {
  const ThreadId thread = new_thread();
  const auto worker = start(thread, 10'000, 0, 2);
  Runner runner(*store_, agents_, options());
  EXPECT_TRUE(runner.cancel(worker->run_id()).value());
  EXPECT_EQ(runner.wait(worker->run_id()).value().status, RunStatus::kInterrupted);
  EXPECT_EQ(gist(events(thread).back()), "assistant: (stopped by user)");
  EXPECT_TRUE(worker->child.wait(std::chrono::seconds(60)).clean());
}

INSTANTIATE_TEST_SUITE_P(Backends, Runs, testing::Values("jsonl", "sqlite", "postgres"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::crash
