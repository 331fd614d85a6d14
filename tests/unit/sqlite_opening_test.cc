#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/sqlite.h"
#include "store/sqlite/schema.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

class SqliteOpening : public testing::Test {
 protected:
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TempDir folder_;
};

TEST_F(SqliteOpening, MakesFoldersThatAreNotThere) {
  const auto store = open_store("sqlite:" + file("a/b/c.db"));
  ASSERT_TRUE(ok(store));
  EXPECT_TRUE(std::filesystem::exists(file("a/b/c.db")));
}

TEST_F(SqliteOpening, LeavesOneFileAndItsLockBehind) {
  must(open_store("sqlite:" + file("x.db"))).reset();
  EXPECT_FALSE(std::filesystem::exists(file("x.db-wal")));
  EXPECT_FALSE(std::filesystem::exists(file("x.db-shm")));
  EXPECT_TRUE(std::filesystem::exists(file("x.db.lock")));
}

TEST_F(SqliteOpening, RefusesAFileThatIsNoDatabaseAndLeavesItAlone) {
  const std::string text(5000, 'x');
  std::ofstream(file("x.db")) << text;
  EXPECT_TRUE(fails(open_store("sqlite:" + file("x.db")), ErrorCode::kDamaged, {"not a database"}));
  EXPECT_EQ(contents(file("x.db")), text);
}

TEST_F(SqliteOpening, RefusesADatabaseOfAnotherApplicationAndLeavesItAlone) {
  must(must(Database::open(file("x.db"), 0)).execute("CREATE TABLE theirs(a)"));
  const std::string before = contents(file("x.db"));
  EXPECT_TRUE(
      fails(open_store("sqlite:" + file("x.db")), ErrorCode::kInvalid, {"another application"}));
  EXPECT_EQ(contents(file("x.db")), before);
}

TEST_F(SqliteOpening, RefusesAFileOfALaterVersion) {
  must(open_store("sqlite:" + file("x.db"))).reset();
  must(must(Database::open(file("x.db"), 0)).execute("PRAGMA user_version = 1000"));
  EXPECT_TRUE(fails(open_store("sqlite:" + file("x.db")), ErrorCode::kInvalid, {"1000"}));
}

TEST_F(SqliteOpening, SaysWhatIsWrongWithAFolderInPlaceOfTheFile) {
  std::filesystem::create_directory(file("x.db"));
  EXPECT_TRUE(fails(open_store("sqlite:" + file("x.db")), ErrorCode::kIo, {"x.db"}));
}

TEST_F(SqliteOpening, RunsEachMigrationOnce) {
  const Migration first[] = {{1, "CREATE TABLE a(x)"}};
  const Migration both[] = {{1, "CREATE TABLE a(x)"}, {2, "INSERT INTO a VALUES(7)"}};
  Database database = must(Database::open(file("m.db"), 0));
  must(database.migrate(first, 42));
  must(database.migrate(both, 42));
  must(database.migrate(both, 42));
  EXPECT_EQ(must(database.integer("SELECT sum(x) FROM a")), 7);
  EXPECT_TRUE(fails(database.migrate(first, 42), ErrorCode::kInvalid, {"later version"}));
}

TEST_F(SqliteOpening, AMigrationThatFailsLeavesNothingBehind) {
  const Migration broken[] = {{1, "CREATE TABLE a(x)"}, {2, "INSERT INTO nowhere VALUES(1)"}};
  Database database = must(Database::open(file("m.db"), 0));
  EXPECT_TRUE(fails(database.migrate(broken, 42), ErrorCode::kIo));
  EXPECT_EQ(must(database.integer("SELECT count(*) FROM sqlite_schema")), 0);
  EXPECT_EQ(must(database.integer("PRAGMA user_version")), 0);
}

TEST_F(SqliteOpening, FindsNothingWrongWithALogWhileItFillsTheRoomThatWasMade) {
  const auto store = must(open_store("sqlite:" + file("x.db")));
  const ThreadId thread = create_thread(*store).id;
  StoreOptions options;
  options.notice = [](const Finding& finding) { ADD_FAILURE() << finding.what; };
  for (int i = 0; i < 80; ++i) {
    must(append_one(*store, thread, message("hello")));
    const auto second = must(open_store("sqlite:" + file("x.db"), options));
  }
}

}  // namespace
}  // namespace skein::test
