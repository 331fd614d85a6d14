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
  void execute(const std::string& file, const std::string& sql) const {
    workspace_.write("execute.py",
                     "import sqlite3, sys\n"
                     "sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])\n");
    const Ran ran = workspace_.shell("python3 execute.py '" + file + "' \"" + sql + '"');
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

TEST_F(HostileDatabaseFile, AsASearchIndexIsBelievedNoNumbers) {
  const std::string thread = workspace_.create();
  for (const char* text : {"the pier", "the harbour at night"}) workspace_.append(thread, text);
  for (const char* sql :
       {"UPDATE agents SET messages = 1000000000000000", "UPDATE agents SET messages = -5",
        "INSERT INTO agents VALUES(50, 'b', 9223372036854775807, NULL),"
        " (51, 'c', 9223372036854775807, NULL)",
        "UPDATE messages SET terms = x'E0FFFFFF1F' WHERE message = 1",
        "UPDATE threads SET target = 9223372036854775807"}) {
    SCOPED_TRACE(sql);
    ASSERT_EQ(timed("backfill --embedder none").code, 0);
    execute(".skein/skein.db.recall", sql);
    const Ran ran = timed("search harbour --embedder none");
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_THAT(ran.out, HasSubstr("harbour"));
    EXPECT_EQ(timed("doctor").code, 0);
    fs::remove(workspace_.path() / ".skein/skein.db.recall");
  }
}

TEST_F(HostileDatabaseFile, WithAnEventFarAwayKeepsNoCommandBusy) {
  const std::string thread = workspace_.create();
  for (const char* text : {"the harbour", "two", "three"}) workspace_.append(thread, text);
  const std::string other = workspace_.create();
  workspace_.append(other, "the lighthouse");
  execute(".skein/skein.db", "UPDATE events SET seq = 1000000000000 WHERE seq = 3");
  for (const char* command : {"thread events ", "thread messages ", "thread context ", "export "}) {
    const Ran ran = timed(command + thread);
    EXPECT_EQ(ran.code, 1) << command << ran;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(thread), HasSubstr("wrong seq"))) << command;
  }
  const Ran doctor = timed("doctor");
  EXPECT_EQ(doctor.code, 1) << doctor;
  EXPECT_THAT(doctor.out, AllOf(HasSubstr(thread), HasSubstr("wrong seq"))) << doctor;
  EXPECT_EQ(timed("backfill --embedder none").code, 0);
  for (const char* word : {"harbour", "lighthouse"}) {
    EXPECT_THAT(timed(std::string("search --embedder none ") + word).out, HasSubstr(word));
  }
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
    EXPECT_THAT(ran.err, AllOf(HasSubstr(name), HasSubstr("must be a regular file")));
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
