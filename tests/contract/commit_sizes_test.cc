#include <numeric>
#include <thread>

#include "contract/contract.h"

namespace skein::test {
namespace {

std::uint64_t commits_of(const CommitSizes& sizes) {
  return std::accumulate(sizes.commits.begin(), sizes.commits.end(), std::uint64_t{0});
}

SKEIN_ON_PERSISTENT_BACKENDS(CommitsOf);

TEST_P(CommitsOf, CallsOneAfterTheOtherHaveACommitEach) {
  const CommitSizes before = store().commit_sizes();
  const ThreadId thread = create_thread(store()).id;
  must_append(store(), thread, message("one"));
  must(store().update(thread, patch(R"({"title":"t"})"), {}));
  const RecordWrite run = record("runs", "a", "b");
  must(store().write(std::span(&run, 1)));
  must(store().lease(thread, "me", 10s, std::nullopt));
  must(store().remove(thread, {}));
  const CommitSizes after = store().commit_sizes();
  EXPECT_EQ(after.calls - before.calls, 6U);
  EXPECT_EQ(after.commits[0] - before.commits[0], 6U);
  EXPECT_EQ(commits_of(after) - commits_of(before), 6U);
}

TEST_P(CommitsOf, CallsAtTheSameTimeHaveEachCallInOneOfThem) {
  constexpr std::uint64_t kWriters = 8;
  constexpr std::uint64_t kCalls = 20;
  const ThreadId thread = create_thread(store()).id;
  const CommitSizes before = store().commit_sizes();
  std::vector<std::jthread> writers;
  for (std::uint64_t i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      for (std::uint64_t j = 0; j < kCalls; ++j) must_append(store(), thread, message("one"));
    });
  }
  writers.clear();
  const CommitSizes after = store().commit_sizes();
  EXPECT_EQ(after.calls - before.calls, kWriters * kCalls);
  EXPECT_LE(commits_of(after) - commits_of(before), kWriters * kCalls);
  EXPECT_GE(commits_of(after) - commits_of(before), kCalls);
}

TEST(CommitsOfMemory, ThereAreNone) {
  Backend backend("memory");
  must_append(backend.store(), create_thread(backend.store()).id, message("one"));
  EXPECT_EQ(backend.store().commit_sizes().calls, 0U);
  EXPECT_EQ(commits_of(backend.store().commit_sizes()), 0U);
}

}  // namespace
}  // namespace skein::test
