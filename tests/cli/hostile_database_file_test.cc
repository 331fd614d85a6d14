// Databases that came with a clone: they lose no write without a word, and keep nobody waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class HostileDatabaseFile : public testing::Test {
 protected:
  // Puts a clause in front of `before`, in what the file says of one of its tables.
  void rewrite(const std::string& file, const std::string& table, const std::string& before,
               const std::string& clause) const {
    workspace_.write("rewrite.py", R"(import sqlite3, sys
file, table, before, clause = sys.argv[1:]
database = sqlite3.connect(file)
database.execute("PRAGMA writable_schema = 1")
rows = database.execute("UPDATE sqlite_master SET sql = replace(sql, ?1, ?2 || ?1) WHERE name = ?3"
                        " AND instr(sql, ?1) > 0", (before, clause, table)).rowcount
database.execute("PRAGMA schema_version = 999")
database.commit()
sys.exit(rows != 1)
)");
    const Ran ran = workspace_.shell("python3 rewrite.py '" + file + "' '" + table + "' '" +
                                     before + "' \"" + clause + '"');
    ASSERT_EQ(ran.code, 0) << ran;
  }
  Ran timed(const std::string& command) const {
    return workspace_.shell("timeout 30 skein " + command);
  }

  Workspace workspace_;
};

TEST_F(HostileDatabaseFile, ThatWouldDropARevocationIsRefusedByName) {
  ASSERT_EQ(workspace_.run({"key", "create", "--access", "admin", "--name", "laptop"}).code, 0);
  rewrite(".skein/skein.db", "records", "UNIQUE(collection, key)",
          "evil INTEGER NOT NULL ON CONFLICT IGNORE AS (CASE WHEN collection = 'keys' AND "
          "instr(bytes, 'revokedAt') > 0 THEN NULL ELSE 1 END) VIRTUAL, ");
  for (const char* command : {"key list", "key revoke x", "thread list", "thread create"}) {
    const Ran ran = timed(command);
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("skein.db"), HasSubstr("records"), HasSubstr("remove")));
  }
}

TEST_F(HostileDatabaseFile, ThatWouldDropEventsIsRefusedByName) {
  const std::string thread = workspace_.create();
  rewrite(".skein/skein.db", "events", "body TEXT",
          "evil INTEGER NOT NULL ON CONFLICT IGNORE AS (CASE WHEN seq > 0 THEN NULL END), ");
  const Ran ran = timed("thread append " + thread + " --text lost");
  EXPECT_NE(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("skein.db"), HasSubstr("events")));
}

TEST_F(HostileDatabaseFile, AsASearchIndexIsMadeAnew) {
  const std::string thread = workspace_.create();
  ASSERT_EQ(workspace_.run({"backfill", "--embedder", "none"}).code, 0);
  rewrite(".skein/skein.db.recall", "messages", "terms BLOB",
          "evil INTEGER NOT NULL ON CONFLICT IGNORE AS (NULL), ");
  workspace_.append(thread, "the harbour at night");
  EXPECT_EQ(timed("backfill --embedder none").code, 0);
  const Ran ran = timed("search harbour --embedder none");
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("harbour"));
}

TEST_F(HostileDatabaseFile, PipesBesideItKeepNobodyWaiting) {
  workspace_.create();
  ASSERT_EQ(workspace_.run({"backfill", "--embedder", "none"}).code, 0);
  const auto with_pipe = [&](const std::string& name, const std::string& command) {
    const fs::path pipe = workspace_.path() / ".skein" / name;
    fs::remove(pipe);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const Ran ran = timed(command);
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(name), HasSubstr("not a regular file")));
    fs::remove(pipe);
  };
  for (const char* name : {"skein.db-journal", "skein.db-wal", "skein.db-shm"}) {
    with_pipe(name, "thread list");
    with_pipe(name, "thread create");
  }
  with_pipe("skein.db.recall-journal", "search x --embedder none");
  with_pipe("skein.db.recall-wal", "search x --embedder none");
}

}  // namespace
}  // namespace skein::test
