#include "core/sqlite_page_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "core/sqlite.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

TEST(HighestPage, IsTheLastThatWasTaken) {
  HighestPage pages;
  EXPECT_FALSE(pages.reaches(1));
  pages.take(7);
  pages.take(3);
  EXPECT_TRUE(pages.reaches(7));
  EXPECT_FALSE(pages.reaches(8));
}

TEST(HighestPage, DoesNotCountOneThatWasFarAwayAndIsBack) {
  HighestPage pages;
  pages.take(7);
  pages.move(3, 262145);
  EXPECT_TRUE(pages.reaches(262145));
  EXPECT_FALSE(pages.reaches(262146));
  pages.move(5, 3);
  pages.move(262145, 5);
  EXPECT_FALSE(pages.reaches(8));
  pages.move(262144, 9);
  EXPECT_TRUE(pages.reaches(9));
}

TEST(HighestPage, CountsASecondThatGoesAway) {
  HighestPage pages;
  pages.move(1, 100);
  pages.move(2, 200);
  pages.move(100, 1);
  EXPECT_TRUE(pages.reaches(200));
}

TEST(HighestPage, IsLowerWhenItIsCut) {
  HighestPage pages;
  pages.take(7);
  pages.move(3, 100);
  pages.cut(8);
  EXPECT_FALSE(pages.reaches(8));
  EXPECT_TRUE(pages.reaches(7));
  pages.cut(0);
  EXPECT_FALSE(pages.reaches(1));
}

// Pages are split, sorted, cut off and taken anew.
TEST(SqlitePageCache, LosesNothing) {
  const TempDir folder;
  Database db = must(Database::open((folder.path() / "x.db").string(), 1000));
  must(
      db.execute("PRAGMA journal_mode = WAL; PRAGMA auto_vacuum = FULL; VACUUM;"
                 "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c TEXT); CREATE INDEX i ON t(b)"));
  const std::string fill =
      "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 500) "
      "INSERT INTO t(b, c) SELECT hex(randomblob(40)), hex(zeroblob(200)) FROM n;";
  for (int i = 0; i < 20; ++i) {
    must(db.execute(("BEGIN;" + fill + "COMMIT").c_str()));
    must(db.execute(("BEGIN;" + fill + "ROLLBACK").c_str()));
    must(db.execute("DELETE FROM t WHERE a % 3 = 0; DELETE FROM t WHERE a > 4000"));
    EXPECT_EQ(must(db.integer("SELECT count(*) FROM pragma_integrity_check "
                              "WHERE integrity_check <> 'ok'")),
              0);
  }
  EXPECT_GT(must(db.integer("SELECT count(*) FROM t")), 1000);
}

}  // namespace
}  // namespace skein::test
