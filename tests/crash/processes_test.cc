// Several processes on the same file or folder.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/file.h"
#include "core/file_lock.h"
#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/journal.h"
#include "crash/harness/rounds.h"
#include "skein/store.h"

namespace skein::crash {
namespace {

constexpr int kProcesses = 8;

class Processes : public testing::TestWithParam<std::string> {
 protected:
  const TempFolder folder_;
  const std::string url_ = store_url(GetParam(), folder_.path());
};

TEST_P(Processes, EightAppendToOneThreadAndNoneWaitsLong) {
  const std::vector<std::string> common = {"--seed",
                                           "5",
                                           "--writers",
                                           std::to_string(kProcesses),
                                           "--shared",
                                           "1",
                                           "--one-thread",
                                           "--ops",
                                           std::to_string(rounds(40, 400)),
                                           "--only"};
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    std::vector<std::string> options = common;
    options.push_back(std::to_string(i));
    children.push_back(std::make_unique<Child>(
        writer_command(url_, folder_ / fmt::format("journal{}", i), options)));
  }
  std::string all;
  long long longest = 0;
  for (int i = 0; i < kProcesses; ++i) {
    const Exit exit = children[static_cast<std::size_t>(i)]->wait(std::chrono::minutes(4));
    const std::string path = folder_ / fmt::format("journal{}", i);
    const std::string said = read_file(path + ".stderr");
    ASSERT_TRUE(exit.clean()) << exit.str() << said;
    long long wait = 0;
    ASSERT_EQ(std::sscanf(said.c_str(), "longest wait %lld us", &wait), 1) << said;
    longest = std::max(longest, wait);
    all += read_file(path);
  }
  std::ofstream(folder_ / "journal", std::ios::binary) << all;
  const Verdict verdict = verify_apart(url_, {folder_ / "journal"});
  EXPECT_TRUE(verdict.sound) << verdict.said;
  const auto journal = Journal::parse(all);
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->acknowledged(), static_cast<std::uint64_t>(kProcesses * rounds(40, 400)));
  figure(fmt::format("{}: {} processes, {} events once each, longest wait {:.0f} ms", GetParam(),
                     kProcesses, journal->acknowledged(), static_cast<double>(longest) / 1000.0));
  if (full_figures()) EXPECT_LT(longest, 1'000'000);
}

TEST_P(Processes, AHolderThatSleptPastItsLeaseWritesNothingMore) {
  const int takeovers = rounds(3, 50);
  auto store = open_store(url_).value();
  for (int i = 0; i < takeovers; ++i) {
    NewThread thread;
    thread.agent_id = "lease";
    const ThreadId id = store->create(thread).value().id;
    const std::string said = folder_ / fmt::format("said{}", i);
    Spawn spawn{.command = {program("lease_holder"), url_, id.str(), std::to_string(i % 4), "20"}};
    spawn.stdout_path = spawn.stderr_path = said;
    Child first(spawn);
    ASSERT_TRUE(first.wait_stopped()) << read_file(said);

    std::optional<Lease> second;
    ASSERT_TRUE(wait_until([&] {
      const auto lease = store->lease(id, "second", std::chrono::minutes(1), {});
      if (lease) second = *lease;
      return lease.has_value() || lease.error().code != ErrorCode::kBusy;
    }));
    ASSERT_TRUE(second);
    Append append{.thread = id, .event = {}, .fence = second->token, .expect_seq = {}};
    append.event.payload = Message{Role::kAssistant, "by the second holder"};
    const auto appended = std::move(store->append({&append, 1}).front());
    ASSERT_TRUE(appended);

    first.signal(SIGCONT);
    const Exit exit = first.wait(std::chrono::seconds(60));
    EXPECT_TRUE(exit.clean()) << exit.str() << "\n" << read_file(said);
    const auto manifest = store->get(id).value();
    ASSERT_TRUE(manifest);
    EXPECT_EQ(manifest->last_seq, appended->seq);
    EXPECT_FALSE(manifest->title);
    EXPECT_TRUE(store->scan({.collection = "runs", .from = {}, .to = {}})->empty());
  }
  figure(fmt::format("{}: {} takeovers, no write of the first after them", GetParam(), takeovers));
}

// The control: as long as nobody took the lease over, the same writes go through.
TEST_P(Processes, AHolderWhomNobodyReplacedWritesOn) {
  auto store = open_store(url_).value();
  NewThread thread;
  thread.agent_id = "lease";
  const ThreadId id = store->create(thread).value().id;
  Spawn spawn{.command = {program("lease_holder"), url_, id.str(), "1", "20"}};
  spawn.stdout_path = folder_ / "said";
  Child first(spawn);
  ASSERT_TRUE(first.wait_stopped());
  first.signal(SIGCONT);
  EXPECT_EQ(first.wait(std::chrono::seconds(60)).code, 1);
  EXPECT_EQ(store->get(id).value()->last_seq, 2U) << read_file(folder_ / "said");
}

// As a process has it that was stopped while it wrote.
class SqliteLock {
 public:
  explicit SqliteLock(const std::string& url)
      : file_(open_file(url.substr(url.find(':') + 1) + ".lock", O_RDWR).value()),
        lock_(FileLock::acquire(file_.get(), 0, LockMode::kExclusive).value()) {}

 private:
  const Fd file_;
  const FileLock lock_;
};

TEST(StoppedProcesses, KeepTheWritesOfOthersWaitingForHalfAMinute) {
  const TempFolder folder;
  const std::string url = store_url("sqlite", folder.path());
  auto store = open_store(url).value();
  std::atomic<int> written{0};
  std::atomic<int> refused{0};
  const auto create = [&] {
    NewThread thread;
    thread.agent_id = "patient";
    const auto made = store->create(thread);
    ++(made ? written : refused);
    if (!made) EXPECT_NE(made.error().message.find(".lock for 30 s"), std::string::npos);
    if (!made) EXPECT_EQ(made.error().code, ErrorCode::kIo);
  };
  std::vector<std::jthread> writers;
  {
    const SqliteLock stopped(url);
    for (int i = 0; i < 4; ++i) writers.emplace_back(create);
    EXPECT_TRUE(store->list({}).has_value());  // who reads does not wait
    ASSERT_TRUE(wait_until([&] { return refused == 3; }, std::chrono::minutes(2)));
    create();
    EXPECT_EQ(refused, 4);
  }
  writers.clear();
  EXPECT_EQ(written, 1);
  create();
  EXPECT_EQ(written, 2);
  EXPECT_EQ(store->list({}).value().threads.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Backends, Processes, testing::Values("jsonl", "sqlite", "postgres"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::crash
