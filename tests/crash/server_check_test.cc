// Servers and tables that a store on PostgreSQL refuses, and servers that it waits for.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <string>
#include <thread>

#include "crash/harness/process.h"
#include "skein/store.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/postgres_server.h"

namespace skein::crash {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for 30s only
using test::append_one;
using test::create_thread;
using test::fails;
using test::message;
using test::must;
using test::must_append;
using test::PostgresServer;
using test::read_all;
using test::texts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A role for which functions of the server are replaced by those in a schema of its own, as they
// are on servers that implement them as stubs.
std::string role_with(const PostgresServer& server, const std::string& replaced) {
  server.sql("CREATE SCHEMA stubs");
  server.sql(replaced);
  server.sql("CREATE ROLE stubbed SUPERUSER LOGIN");
  server.sql("ALTER ROLE stubbed SET search_path = stubs, pg_catalog");
  return "postgres://stubbed@/postgres?host=" + server.folder();
}

TEST(RefusedServer, WhoseAdvisoryLocksDoNothing) {
  const PostgresServer server;
  const std::string url =
      role_with(server,
                "CREATE FUNCTION stubs.pg_try_advisory_xact_lock(int, int) RETURNS boolean"
                " LANGUAGE sql AS 'SELECT true';"
                "CREATE FUNCTION stubs.pg_advisory_xact_lock_shared(int, int) RETURNS void"
                " LANGUAGE sql AS ''");
  EXPECT_TRUE(fails(open_store(url), ErrorCode::kInvalid,
                    {"advisory locks do nothing", "two connections", "change feed"}));
  must(open_store(server.url()));
}

TEST(RefusedServer, WhoseLocksOthersCannotSee) {
  const PostgresServer server;
  const std::string url = role_with(server,
                                    "CREATE VIEW stubs.pg_locks AS SELECT * FROM "
                                    "pg_catalog.pg_locks WHERE pid = pg_backend_pid()");
  EXPECT_TRUE(fails(open_store(url), ErrorCode::kInvalid, {"pg_locks", "change feed"}));
}

// What somebody did to the tables of a schema, and what the error says about it.
struct Difference {
  const char* schema;
  const char* sql;  // in which "skein." stands for the schema
  const char* table;
  const char* why;
};

constexpr Difference kDifferences[] = {
    {"partitioned",
     "ALTER TABLE skein.branches RENAME TO old_branches;"
     "CREATE TABLE skein.branches (LIKE skein.old_branches) PARTITION BY HASH (id)",
     "branches", "is partitioned"},
    {"viewed",
     "ALTER TABLE skein.events RENAME TO old_events;"
     "CREATE VIEW skein.events AS SELECT * FROM skein.old_events",
     "events", "is a view"},
    {"inherited", "CREATE TABLE skein.chunk () INHERITS (skein.events)", "events", "inherits"},
    {"unlogged", "ALTER TABLE skein.records SET UNLOGGED", "records", "is unlogged"},
    {"renamed", "ALTER TABLE skein.threads RENAME COLUMN holder TO owner", "threads",
     R"(has no column "holder text")"},
    {"retyped", "ALTER TABLE skein.changes ALTER COLUMN kind TYPE integer", "changes",
     R"(has no column "kind bigint")"},
    {"without_keys", "DROP INDEX skein.events_by_key", "events",
     R"(has no unique index "events_by_key")"},
    {"incomplete", "DROP TABLE skein.thread_meta", "thread_meta", "is missing"},
    {"of_others", "DROP TABLE skein.migrations; CREATE TABLE skein.migrations(name text)",
     "migrations", R"(has no column "version")"},
    // The catalog of Citus, which leaves a table that it distributes an ordinary one.
    {"distributed",
     "SET allow_system_table_mods = on;"
     "CREATE TABLE pg_catalog.pg_dist_partition(logicalrelid regclass);"
     "INSERT INTO pg_catalog.pg_dist_partition VALUES('skein.events')",
     "events", "is distributed by Citus"},
};

TEST(RefusedTables, AreNamedWithWhatIsDifferent) {
  const PostgresServer server;
  for (const Difference& difference : kDifferences) {
    const std::string schema = difference.schema;
    SCOPED_TRACE(schema);
    const std::string url = server.url("skein_schema=" + schema);
    must(open_store(url));
    must(open_store(url));
    std::string sql = difference.sql;
    for (std::size_t at = 0; (at = sql.find("skein.", at)) != std::string::npos;)
      sql.replace(at, std::string("skein").size(), schema);
    server.sql(sql);
    EXPECT_TRUE(fails(open_store(url), ErrorCode::kInvalid,
                      {schema + "." + difference.table, "was not made by Skein", difference.why,
                       "skein_schema"}));
  }
}

// --- Commits that end with an internal error ---

// A trigger fails at the commit, the first `times` times. A sequence is not rolled back.
void fail_commits(const PostgresServer& server, int times) {
  server.sql(fmt::format(
      "CREATE SEQUENCE public.failures;"
      "CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " IF nextval('public.failures') <= {} THEN"
      "  RAISE EXCEPTION 'a node was lost' USING ERRCODE = 'XX000'; END IF;"
      " RETURN NULL; END $$;"
      "CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON skein.events DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION public.fail()",
      times));
}

TEST(InternalError, OfACommitThatWasRolledBackIsRetried) {
  const PostgresServer server;
  const auto store = must(open_store(server.url()));
  const ThreadId id = create_thread(*store).id;
  fail_commits(server, 2);
  EXPECT_EQ(must_append(*store, id, message("a")), 1U);
  EXPECT_EQ(server.sql("SELECT last_value FROM public.failures"), "3");
  EXPECT_THAT(texts(read_all(*store, id)), ElementsAre("a"));
}

TEST(InternalError, ThatDoesNotPassIsReportedWithWhatItLeftBehind) {
  const PostgresServer server;
  const auto store = must(open_store(server.url("skein_timeout_ms=60000")));
  const ThreadId id = create_thread(*store).id;
  fail_commits(server, 1'000'000);
  const auto failed = append_one(*store, id, message("a"));
  EXPECT_TRUE(fails(failed, ErrorCode::kIo, {"a node was lost", "XX000"}));
  EXPECT_THAT(failed.error().message, Not(HasSubstr("not known")));
  EXPECT_LT(std::stoi(server.sql("SELECT last_value FROM public.failures")), 10);
  server.sql("DROP TRIGGER fail ON skein.events");
  EXPECT_EQ(must_append(*store, id, message("b")), 1U);
}

// As the extension Citus says that its server ends.
TEST(InternalError, ThatSaysThatTheServerEndsIsRetriedLikeAnyShutdown) {
  const PostgresServer server;
  const auto store = must(open_store(server.url()));
  const ThreadId id = create_thread(*store, "agent", {message("a")}).id;
  server.sql(
      "CREATE SEQUENCE public.failures; ALTER TABLE skein.events RENAME TO stored;"
      "CREATE FUNCTION public.pass() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN"
      " IF nextval('public.failures') <= 2 THEN RAISE EXCEPTION 'postmaster was shut down, exiting'"
      "  USING ERRCODE = 'XX000'; END IF; RETURN true; END $$;"
      "CREATE VIEW skein.events AS SELECT * FROM skein.stored WHERE public.pass()");
  EXPECT_THAT(texts(read_all(*store, id)), ElementsAre("a"));
  EXPECT_GT(std::stoi(server.sql("SELECT last_value FROM public.failures")), 2);
}

// --- Servers that restart ---

TEST(RestartingServer, IsWaitedForWhenAStoreIsOpened) {
  PostgresServer server;
  must(open_store(server.url()));
  const std::string conninfo = "postgres://skein@/postgres?host=" + server.folder();
  std::unique_ptr<PGconn, decltype(&PQfinish)> session(PQconnectdb(conninfo.c_str()), PQfinish);
  ASSERT_EQ(PQstatus(session.get()), CONNECTION_OK);
  // The server waits for the session to end, and lets nobody in.
  std::jthread stopping([&] { server.stop("smart"); });
  ASSERT_TRUE(wait_until([&] { return PQping(conninfo.c_str()) == PQPING_REJECT; }));
  const auto rejections = [&] {
    const std::string log = read_file(server.folder() + "/log");
    int count = 0;
    for (std::size_t at = 0; (at = log.find("is shutting down", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  const int before = rejections();
  std::jthread opening([&] { EXPECT_TRUE(test::ok(open_store(server.url()))); });
  // It tried once, asked why that failed, and tried again.
  ASSERT_TRUE(wait_until([&] { return rejections() >= before + 3; }));
  session.reset();
  stopping.join();
  server.start();
}

}  // namespace
}  // namespace skein::crash
