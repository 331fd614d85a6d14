#include "store/commit_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skein::test {
namespace {

using testing::ElementsAre;

TEST(CommitCounter, CountsByPowersOfTwo) {
  CommitCounter counter;
  for (const std::size_t calls : {1, 2, 3, 4, 5, 1024, 1025, 5000}) counter.add(calls);
  EXPECT_THAT(counter.sizes().commits, ElementsAre(1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 1, 2));
  EXPECT_EQ(counter.sizes().calls, 1U + 2 + 3 + 4 + 5 + 1024 + 1025 + 5000);
}

}  // namespace
}  // namespace skein::test
