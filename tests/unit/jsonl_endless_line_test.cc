// Files that say they are longer than any disk, and take no room: nobody reads them to their end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "api/transfer/line_file.h"
#include "jsonl_fixture.h"

namespace skein::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

// Every file system takes that.
constexpr std::uintmax_t kHuge = std::uintmax_t{3} << 30;

class EndlessLine : public JsonlFolder {
 protected:
  void SetUp() override {
    const auto store = open();
    hostile_ = create_thread(*store, "agent", {message("one")}).id;
    other_ = create_thread(*store, "agent", {message("two")}).id;
    std::filesystem::resize_file(file(), kHuge);
  }
  std::string file() const { return thread_path(hostile_).string(); }

  ThreadId hostile_;
  ThreadId other_;
};

TEST_F(EndlessLine, IsToldAndLeftOutOfLists) {
  const auto store = open();
  const ThreadPage page = must(store->list({}));
  ASSERT_THAT(page.threads, SizeIs(1));
  EXPECT_EQ(page.threads[0].id, other_);
  EXPECT_THAT(notices_, Contains(HasSubstr("longer than any event")));
}

TEST_F(EndlessLine, FailsReadsAndAppendsByTheNameOfTheFile) {
  const auto store = open();
  EXPECT_TRUE(fails(store->get(hostile_), ErrorCode::kDamaged, {file()}));
  EXPECT_TRUE(fails(store->read(hostile_, {}, [](const Event&) { return true; }),
                    ErrorCode::kDamaged, {file()}));
  EXPECT_TRUE(fails(append_one(*store, hostile_, message("x")), ErrorCode::kDamaged, {file()}));
  EXPECT_EQ(std::filesystem::file_size(file()), kHuge);
}

TEST_F(EndlessLine, IsFoundByChecks) {
  const auto store = open();
  EXPECT_THAT(broken(check(*store)), Contains(HasSubstr(file())));
  EXPECT_THAT(broken(check(*store, true)), Contains(HasSubstr(file())));
  EXPECT_EQ(std::filesystem::file_size(file()), kHuge);
}

TEST_F(EndlessLine, DoesNotKeepChangesOfOthersFromBeingTold) {
  const auto store = open();
  EXPECT_TRUE(ok(store->changes("", 100, std::chrono::milliseconds(0))));
}

TEST_F(EndlessLine, EndsAnImport) {
  LineFile lines = must(LineFile::open(file()));
  LineBuffer::Line line;
  ASSERT_TRUE(must(lines.next(line)));
  ASSERT_TRUE(must(lines.next(line)));
  EXPECT_THAT(std::string(line.text), HasSubstr("one"));
  EXPECT_TRUE(fails(lines.next(line), ErrorCode::kDamaged, {file(), "longer than any event"}));
}

}  // namespace
}  // namespace skein::test
