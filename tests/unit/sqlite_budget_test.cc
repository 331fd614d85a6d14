// Database files of a few pages that have rows without end: no query takes for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>

#include "core/sqlite.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

std::string big_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> 8 * i & 0xFFU);
  return text;
}

// A file of SQLite, as pages.
class Pages {
 public:
  explicit Pages(std::string path) : path_(std::move(path)) {
    std::stringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    bytes_ = text.str();
    size_ = std::size_t{static_cast<unsigned char>(bytes_[16])} << 8;
  }
  ~Pages() {
    bytes_.replace(28, 4, big_endian(count(), 4));
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes_;
  }
  std::size_t count() const { return bytes_.size() / size_; }

  // The only page of the table becomes a tree that has the rows of that page `kChildren` to the
  // power of `levels` times.
  void repeat(std::size_t root, int levels) {
    bytes_ += page(root);
    for (int level = 1; level < levels; ++level) bytes_ += inner(count());
    bytes_.replace((root - 1) * size_, size_, inner(count()));
  }

 private:
  static constexpr std::size_t kChildren = 400;

  std::string page(std::size_t number) const { return bytes_.substr((number - 1) * size_, size_); }
  // An inner page of a table, whose children are all the same page.
  std::string inner(std::size_t child) const {
    const std::string cell = big_endian(child, 4) + "\xBD\x84\x40";  // key 1000000
    const std::size_t begin = size_ - kChildren * cell.size();
    std::string page = "\x05" + big_endian(0, 2) + big_endian(kChildren, 2) + big_endian(begin, 2) +
                       big_endian(0, 1) + big_endian(child, 4);
    for (std::size_t i = 0; i < kChildren; ++i) page += big_endian(begin + i * cell.size(), 2);
    page.resize(begin, '\0');
    for (std::size_t i = 0; i < kChildren; ++i) page += cell;
    return page;
  }

  const std::string path_;
  std::string bytes_;
  std::size_t size_ = 0;
};

class RowsWithoutEnd : public testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "x.db").string(); }
  void repeat(const std::string& table) const {
    std::size_t root = 0;
    {
      Database database = must(Database::open(path(), 5000));
      must(database.execute("PRAGMA journal_mode = DELETE"));
      const std::string sql = "SELECT rootpage FROM sqlite_master WHERE name = '" + table + "'";
      root = static_cast<std::size_t>(must(database.integer(sql.c_str())));
    }
    Pages(path()).repeat(root, 5);
  }

  TempDir folder_;
};

TEST_F(RowsWithoutEnd, EndEveryQueryAsDamage) {
  must(must(Database::open(path(), 0)).execute("CREATE TABLE a(b); INSERT INTO a VALUES (1), (2)"));
  repeat("a");
  Database database = must(Database::open(path(), 0));
  for (const char* sql : {"SELECT sum(b) FROM a", "SELECT b FROM a ORDER BY b"}) {
    EXPECT_TRUE(fails(database.integer(sql), ErrorCode::kDamaged, {path(), "steps"})) << sql;
  }
  EXPECT_TRUE(fails(database.execute("DELETE FROM a WHERE b = 3"), ErrorCode::kDamaged));
  EXPECT_EQ(must(database.integer("SELECT b FROM a LIMIT 1")), 1) << "a query of its own";
  // Row by row, with other queries in between.
  Query rows = must(database.query("SELECT b FROM a"));
  Result<bool> more = true;
  while (more && *more) {
    more = rows.step();
    if (!more) break;
    if (const auto other = database.integer("SELECT 1"); !other) {
      more = tl::unexpected(other.error());  // shares the budget
    }
  }
  EXPECT_TRUE(fails(more, ErrorCode::kDamaged));
}

TEST_F(RowsWithoutEnd, KeepNoStoreBusy) {
  // Those of "threads" and "records" are found by indexes; only a check reads their tables whole.
  for (const std::string table : {"threads", "events", "records", "changes"}) {
    SCOPED_TRACE(table);
    {
      const auto store = must(open_store("sqlite:" + path()));
      create_thread(*store, "agent", {message("one")});
      must(store->write(std::vector{record("runs", "a", "1")}));
    }
    repeat(table);
    {
      const auto store = must(open_store("sqlite:" + path()));
      EXPECT_TRUE(ok(store->list({})));
      EXPECT_TRUE(ok(store->scan({.collection = "runs", .from = "", .to = ""})));
      const auto changes = store->changes("", 1000, {});
      const bool follows = table == "threads" || table == "records";
      EXPECT_TRUE(follows ? ok(changes) : fails(changes, ErrorCode::kDamaged));
      const auto checked = store->check({}, {});
      if (checked) {
        EXPECT_EQ(checked->health, Health::kBroken);
      } else {
        EXPECT_EQ(checked.error().code, ErrorCode::kDamaged);
      }
    }
    std::filesystem::remove(path());
  }
}

TEST_F(RowsWithoutEnd, DoNotBoundQueriesOfLargeTables) {
  Database database = must(Database::open(path(), 0));
  must(database.execute(
      "CREATE TABLE a(b TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      "LIMIT 400000) INSERT INTO a SELECT printf('%040d', i) FROM n"));
  // More than 20 million steps, which any database may take.
  EXPECT_EQ(must(database.integer("SELECT sum(x.b = y.b) FROM a x JOIN a y ON y.rowid = x.rowid "
                                  "CROSS JOIN (SELECT 1 FROM a LIMIT 20)")),
            20 * 400'000);
}

}  // namespace
}  // namespace skein::test
