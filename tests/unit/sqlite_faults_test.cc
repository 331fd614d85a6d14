// Storage that fails: what the store says then, and whether it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;

std::atomic<int> write_error{0};

ssize_t failing_pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  if (const int error = write_error.load(); error != 0) {
    errno = error;
    return -1;
  }
  return ::pwrite(fd, bytes, count, offset);
}

// SQLite's writes go through failing_pwrite as long as this lives.
class FailingWrites {
 public:
  FailingWrites() { set(reinterpret_cast<sqlite3_syscall_ptr>(&failing_pwrite)); }
  ~FailingWrites() {
    write_error = 0;
    set(nullptr);
  }

 private:
  static void set(sqlite3_syscall_ptr call) {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    vfs->xSetSystemCall(vfs, "pwrite", call);
    vfs->xSetSystemCall(vfs, "pwrite64", call);
  }
};

class SqliteFaults : public testing::Test {
 protected:
  FailingWrites writes_;
  Backend backend_{"sqlite"};
  Store& store() { return backend_.store(); }
};

TEST_F(SqliteFaults, AfterAnInputOutputErrorWritesAreRefusedUntilReopenedAndReadsGoOn) {
  const ThreadId id = create_thread(store(), "agent", {message("before")}).id;
  write_error = EIO;
  EXPECT_TRUE(fails(append_one(store(), id, message("lost")), ErrorCode::kIo));
  write_error = 0;
  EXPECT_TRUE(fails(append_one(store(), id, message("refused")), ErrorCode::kIo, {"opened again"}));
  EXPECT_TRUE(fails(store().remove(id), ErrorCode::kIo));
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("before"));
  backend_.reopen();
  EXPECT_EQ(must_append(store(), id, message("after")), 2U);
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("before", "after"));
}

TEST_F(SqliteFaults, AFullDiskRefusesWritesAndIsForgottenWhenThereIsRoom) {
  const ThreadId id = create_thread(store(), "agent", {message("before")}).id;
  write_error = ENOSPC;
  EXPECT_TRUE(fails(append_one(store(), id, message("no room")), ErrorCode::kIo));
  EXPECT_TRUE(fails(append_one(store(), id, message("no room")), ErrorCode::kIo));
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("before"));
  write_error = 0;
  EXPECT_EQ(must_append(store(), id, message("after")), 2U);
  backend_.reopen();
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("before", "after"));
}

TEST_F(SqliteFaults, TheWriteAheadLogDoesNotGrowWithoutEnd) {
  constexpr std::uintmax_t kMost = std::uintmax_t{192} << 20;
  StoreOptions options;
  options.unsafe_no_flush = true;
  const auto file = (backend_.folder() / "log.db").string();
  const auto fast = must(open_store("sqlite:" + file, options));
  const ThreadId id = create_thread(*fast).id;
  const std::string text(100'000, 'x');
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<Append> appends(50, Append{id, message(text), {}, {}});
    for (const auto& result : fast->append(appends)) ASSERT_TRUE(ok(result));
    ASSERT_LT(std::filesystem::file_size(file + "-wal"), kMost);
  }
  EXPECT_GT(std::filesystem::file_size(file), kMost);
}

}  // namespace
}  // namespace skein::test
