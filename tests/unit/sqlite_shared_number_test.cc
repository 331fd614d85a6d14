// A number that processes share through a file.
#include "store/sqlite/shared_number.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/file.h"
#include "skein/store.h"
#include "store/sqlite/feed.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using sqlite::SharedNumber;

class SqliteSharedNumber : public testing::Test {
 protected:
  Fd open(int flags = O_RDWR | O_CREAT) const { return must(open_file(path_, flags)); }

  TempDir folder_;
  const std::string path_ = (folder_.path() / "lock").string();
};

TEST_F(SqliteSharedNumber, IsWhatAnotherWrote) {
  const Fd one = open();
  const Fd two = open();
  SharedNumber mine(one.get());
  SharedNumber theirs(two.get());
  EXPECT_EQ(mine.read(), 0U);
  for (const std::uint64_t number : {1ULL, 2ULL, 5'000'000'000ULL, 7ULL}) {
    ASSERT_TRUE(mine.write(number));
    EXPECT_EQ(theirs.read(), number);
  }
}

TEST_F(SqliteSharedNumber, OutlivesWhoeverWroteIt) {
  {
    const Fd file = open();
    ASSERT_TRUE(SharedNumber(file.get()).write(42));
  }
  const Fd file = open();
  EXPECT_EQ(SharedNumber(file.get()).read(), 42U);
  std::ifstream stream(path_, std::ios::binary);
  std::uint64_t stored = 0;
  stream.read(reinterpret_cast<char*>(&stored), sizeof stored);
  EXPECT_EQ(stored, 42U);
}

TEST_F(SqliteSharedNumber, WakesWhoWaitsForAnother) {
  const Fd one = open();
  const Fd two = open();
  SharedNumber mine(one.get());
  const SharedNumber theirs(two.get());
  std::jthread waiter([&] {
    while (theirs.read() == 0) ASSERT_TRUE(theirs.wait(0, std::chrono::hours(1)));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that it sleeps by then
  ASSERT_TRUE(mine.write(2));
  mine.wake();
}

TEST_F(SqliteSharedNumber, IsInTheFileWhereMemoryCannotBeShared) {
  const Fd shared = open();
  ASSERT_TRUE(SharedNumber(shared.get()).write(6));
  // It needs a file that is open for reading.
  const Fd file = open(O_WRONLY);
  SharedNumber number(file.get());
  EXPECT_FALSE(number.wait(6, std::chrono::hours(1)));
  EXPECT_TRUE(number.write(8));
  EXPECT_EQ(SharedNumber(shared.get()).read(), 8U);
  number.wake();
}

TEST_F(SqliteSharedNumber, TellsOfAWriteAlthoughTheNextHasBegun) {
  const std::string database = (folder_.path() / "x.db").string();
  must(open_store("sqlite:" + database));
  const Fd file = open();
  SharedNumber number(file.get());
  const auto watch = must(sqlite::Watch::open(database, number));
  ASSERT_TRUE(number.write(2));
  const std::uint64_t before = watch->generation();
  ASSERT_TRUE(number.write(3));
  EXPECT_EQ(watch->generation(), before);
  ASSERT_TRUE(number.write(5));
  must(watch->wait(before, sqlite::Watch::Clock::now() + std::chrono::hours(1)));
  EXPECT_NE(watch->generation(), before);
}

}  // namespace
}  // namespace skein::test
