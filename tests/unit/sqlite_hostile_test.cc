// Files of databases that somebody else made: what could lose writes, wait for ever, or read for
// ever is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/sqlite.h"
#include "recall/index/index_file.h"
#include "recall/index/schema.h"
#include "store/sqlite/schema.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;

// Every file system takes that.
constexpr std::uintmax_t kHuge = std::uintmax_t{3} << 30;

class SqliteHostile : public testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "x.db").string(); }
  Result<std::unique_ptr<Store>> open() { return open_store("sqlite:" + path()); }
  void change(const std::string& sql) const {
    must(must(Database::open(path(), 5000)).execute(sql.c_str()));
  }
  void start_over() const {
    for (const char* ending : {"", "-wal", "-shm", ".lock"}) fs::remove(path() + ending);
  }
  std::int64_t number(const char* sql) const {
    Database database = must(Database::open(path(), 5000));
    return must(database.integer(sql));
  }

  TempDir folder_;
};

// Puts `clause` in front of `before`, in what the file says of one of its tables.
std::string rewrite(const std::string& table, const std::string& before,
                    const std::string& clause) {
  return "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '" + before +
         "', '" + clause + before + "') WHERE name = '" + table + "'";
}

TEST_F(SqliteHostile, NoValueIsLargerThanTwoOfTheLargestRecords) {
  Database database = must(Database::open(path(), 5000));
  EXPECT_EQ(must(database.integer("SELECT length(zeroblob(33554432))")), 33'554'432);
  EXPECT_FALSE(database.integer("SELECT length(zeroblob(100000000))"));
}

TEST_F(SqliteHostile, FilesAreNotAttachedBesideTheOneForVacuum) {
  Database database = must(Database::open(path(), 5000));
  EXPECT_TRUE(ok(database.execute("ATTACH ':memory:' AS one")));
  EXPECT_FALSE(database.execute("ATTACH ':memory:' AS two"));
  EXPECT_TRUE(ok(database.execute("DETACH one; VACUUM")));
}

TEST_F(SqliteHostile, TablesThatDropWhatIsWrittenAreRefused) {
  const std::string evil =
      "evil INTEGER NOT NULL ON CONFLICT IGNORE AS (CASE WHEN crc > 0 THEN NULL ELSE 1 END) "
      "VIRTUAL, ";
  const std::pair<const char*, std::string> cases[] = {
      {"records", rewrite("records", "UNIQUE(collection", evil)},
      {"events", rewrite("events", "body TEXT", evil)},
      {"changes", rewrite("changes", ") STRICT", ", CHECK (kind <> 5)")},
      {"listed", rewrite("listed", ") STRICT", ", CHECK (agent > 0)")},
      {"events_by_key", "DROP INDEX events_by_key"},
      {"deleted_records", rewrite("deleted_records", "kind = 5", "length(key) > 3 AND ")},
  };
  for (const auto& [name, sql] : cases) {
    SCOPED_TRACE(sql);
    must(open()).reset();
    change(sql);
    EXPECT_TRUE(fails(open(), ErrorCode::kDamaged, {path(), name}));
    start_over();
  }
}

TEST_F(SqliteHostile, WhatSkeinDoesNotMakeIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"CREATE INDEX more ON records(version)", "unexpected index \"more\""},
      {"CREATE UNIQUE INDEX more ON records(collection)", "unexpected index \"more\""},
      {"CREATE VIEW more AS SELECT 1", "unexpected view \"more\""},
      {"CREATE TRIGGER more BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END",
       "unexpected trigger \"more\""},
      {"CREATE TABLE more(a); CREATE TRIGGER evil BEFORE INSERT ON more BEGIN SELECT 1; END",
       "unexpected trigger \"evil\""},
      {"CREATE VIRTUAL TABLE more USING fts5(a)", "unexpected table \"more\""},
      {"CREATE TABLE more(a CHECK (length(hex(zeroblob(99999999))) > 0))",
       "unexpected table \"more\""},
      {"CREATE TABLE more(a, b AS (a + 1))", "unexpected table \"more\""},
      {"CREATE TABLE more(a); CREATE INDEX evil ON more(hex(a))", "unexpected index \"evil\""},
      {"CREATE TABLE more(a); CREATE INDEX evil ON more(a) WHERE a > 0",
       "unexpected index \"evil\""},
      {"CREATE INDEX evil ON records(version); PRAGMA writable_schema = ON;"
       "UPDATE sqlite_master SET tbl_name = 'more' WHERE name = 'evil'",
       "evil"},
      {"PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM"
       " sqlite_master WHERE name = 'changes') WHERE name = 'leases'",
       "shares its pages"},
      {"CREATE TABLE more(a); PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage ="
       " (SELECT rootpage FROM sqlite_master WHERE name = 'changes') WHERE name = 'more'",
       "shares its pages"}};
  for (const auto& [sql, named] : cases) {
    SCOPED_TRACE(sql);
    must(open()).reset();
    change(sql);
    EXPECT_TRUE(fails(open(), ErrorCode::kDamaged, {path(), named}));
    start_over();
  }
}

// As Litestream makes them in the database that it replicates; and a report of the user's own.
TEST_F(SqliteHostile, PlainTablesOfOthersAreAllowed) {
  const auto thread = create_thread(*must(open())).id;
  change(
      "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);"
      "CREATE TABLE _litestream_lock (id INTEGER);"
      "CREATE TABLE \"my report\" (day TEXT NOT NULL UNIQUE, n INTEGER DEFAULT 0);"
      "CREATE INDEX by_n ON \"my report\" (n DESC, day);"
      "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);"
      "INSERT INTO _litestream_seq VALUES (1, 7)");
  EXPECT_TRUE(ok(must(open())->get(thread)));
  EXPECT_EQ(number("SELECT seq FROM _litestream_seq"), 7);
}

// A name that differs in its case alone would be another table to a careless comparison.
TEST_F(SqliteHostile, ASecondTableOfANameIsRefused) {
  must(open()).reset();
  change(
      "CREATE TABLE more(a); PRAGMA writable_schema = ON; UPDATE sqlite_master SET"
      " name = 'RECORDS', tbl_name = 'RECORDS', sql = replace(sql, 'more', 'RECORDS')"
      " WHERE name = 'more'");
  EXPECT_TRUE(fails(open(), ErrorCode::kDamaged, {path()}));
}

// Who asks for sqlite_schema is shown a table of that name.
TEST_F(SqliteHostile, ASchemaOfTheFilesOwnDoesNotHideWhatIsThere) {
  must(open()).reset();
  change("CREATE TABLE decoy AS SELECT * FROM sqlite_master");
  change(
      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'sqlite_schema',"
      " tbl_name = 'sqlite_schema', sql = replace(sql, 'decoy', 'sqlite_schema')"
      " WHERE name = 'decoy'");
  EXPECT_TRUE(fails(open(), ErrorCode::kDamaged, {path()}));
}

TEST_F(SqliteHostile, AnOlderVersionIsLookedAtBeforeItIsBroughtUpToDate) {
  must(must(Database::open(path(), 0))
           .migrate(sqlite::migrations().first(1), sqlite::kApplicationId));
  change(rewrite("records", "UNIQUE(collection", "CHECK (version > 0), "));
  EXPECT_TRUE(fails(open(), ErrorCode::kDamaged, {"records"}));
  EXPECT_EQ(number("PRAGMA user_version"), 1);
}

TEST_F(SqliteHostile, EveryVersionOfTheTablesOpens) {
  for (std::size_t version = 1; version <= sqlite::migrations().size(); ++version) {
    must(must(Database::open(path(), 0))
             .migrate(sqlite::migrations().first(version), sqlite::kApplicationId));
    EXPECT_TRUE(ok(open())) << version;
    EXPECT_TRUE(ok(open())) << version;
    start_over();
  }
}

TEST_F(SqliteHostile, StatisticsOfSqliteMayBeThere) {
  const auto thread = create_thread(*must(open())).id;
  change("ANALYZE");
  EXPECT_GT(number("SELECT count(*) FROM sqlite_master WHERE name LIKE 'sqlite_stat%'"), 0);
  EXPECT_TRUE(ok(must(open())->get(thread)));
}

TEST_F(SqliteHostile, PipesKeepNobodyWaiting) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    const std::string pipe = path() + ending;
    fs::remove(pipe);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_TRUE(fails(open(), ErrorCode::kIo, {pipe, "regular file"}));
    fs::remove(pipe);
  }
}

TEST_F(SqliteHostile, ALogOfAnyLengthIsReadNoFurtherThanItHoldsFrames) {
  std::string header(32, '\0');
  {
    const auto store = must(open());
    create_thread(*store);
    std::ifstream(path() + "-wal", std::ios::binary).read(header.data(), 32);
  }
  ASSERT_NE(header[0], '\0');
  std::ofstream(path() + "-wal", std::ios::binary) << header;
  fs::resize_file(path() + "-wal", kHuge);
  ASSERT_TRUE(ok(open()));
}

class HostileIndex : public SqliteHostile {
 protected:
  std::int64_t objects_like(const std::string& text) const {
    const std::string sql = "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%" + text + "%'";
    return number(sql.c_str());
  }
};

TEST_F(HostileIndex, WithOtherTablesIsMadeAnew) {
  for (const std::string& sql :
       {rewrite("messages", "terms BLOB", "evil INTEGER NOT NULL ON CONFLICT IGNORE, "),
        std::string("CREATE TABLE evil(a)"), std::string("CREATE VIEW evil AS SELECT 1"),
        std::string("CREATE VIEW evil AS SELECT 1; PRAGMA user_version = 0")}) {
    SCOPED_TRACE(sql);
    must(IndexFile::open(path())).reset();
    change(sql);
    ASSERT_EQ(objects_like("evil"), 1);
    EXPECT_TRUE(ok(IndexFile::open(path())));
    EXPECT_EQ(objects_like("evil"), 0);
  }
}

TEST_F(HostileIndex, NamesOfItsTablesAreNotExecuted) {
  change(
      "CREATE TABLE \"x\"\"; CREATE TABLE evil(a); --\"(a); CREATE TABLE x(a);"
      "PRAGMA application_id = " +
      std::to_string(kIndexApplication));
  EXPECT_TRUE(ok(IndexFile::open(path())));
  EXPECT_EQ(objects_like("evil"), 0);
  EXPECT_EQ(objects_like("CREATE TABLE messages"), 1);
}

TEST_F(HostileIndex, ThatIsInOrderStays) {
  must(IndexFile::open(path())).reset();
  change("INSERT INTO state VALUES ('kept', 1)");
  must(IndexFile::open(path())).reset();
  EXPECT_EQ(number("SELECT value FROM state WHERE name = 'kept'"), 1);
}

}  // namespace
}  // namespace skein::test
