#include <gtest/gtest.h>

#include <set>

#include "api/threads.h"
#include "skein/limits.h"
#include "support/builders.h"

namespace skein {
namespace {

class ListThreads : public testing::Test {
 protected:
  void SetUp() override {
    store_ = open_store("memory:").value();
    for (std::size_t i = 0; i < kThreads; ++i) test::create_thread(*store_);
  }

  // The ids that come, in order; `next` gets the cursor.
  std::vector<ThreadId> list(std::uint64_t limit, const std::string& after, std::string& next) {
    std::vector<ThreadId> ids;
    ListQuery query;
    query.after = after;
    next = list_threads(*store_, query, limit, [&](const Manifest& manifest) {
             ids.push_back(manifest.id);
             return true;
           }).value();
    return ids;
  }

  static constexpr std::size_t kThreads = 2 * limits::kMaxPageSize + 500;
  std::unique_ptr<Store> store_;
};

TEST_F(ListThreads, GoesOverAllPages) {
  std::string next;
  const auto ids = list(std::numeric_limits<std::uint64_t>::max(), "", next);
  EXPECT_EQ(std::set<ThreadId>(ids.begin(), ids.end()).size(), kThreads);
  EXPECT_EQ(next, "");
}

TEST_F(ListThreads, StopsAtALimitBeyondOnePageAndGoesOnFromThere) {
  std::string next;
  const auto first = list(limits::kMaxPageSize + 7, "", next);
  EXPECT_EQ(first.size(), limits::kMaxPageSize + 7);
  ASSERT_NE(next, "");
  std::set<ThreadId> all(first.begin(), first.end());
  for (const ThreadId id : list(kThreads, next, next)) all.insert(id);
  EXPECT_EQ(all.size(), kThreads);
}

TEST_F(ListThreads, StopsWhenTheSinkHasEnough) {
  int seen = 0;
  const auto next = list_threads(*store_, {}, 100, [&](const Manifest&) { return ++seen < 3; });
  EXPECT_TRUE(next.has_value());
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace skein
