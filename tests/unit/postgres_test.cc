// What only a store on PostgreSQL has: its URL, its tables, and a feed whose places are committed
// in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <thread>
#include <vector>

#include "api/settings.h"
#include "store/postgres/schema.h"
#include "store/postgres/settings.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/postgres_server.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for 10ms only
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string parameter(const postgres::Settings& settings, const std::string& name) {
  for (const auto& [key, value] : settings.connection) {
    if (key == name) return value;
  }
  return "";
}

TEST(PostgresUrl, HasParametersOfOursThatLibpqNeverSees) {
  const auto settings = must(postgres::parse_settings(
      "postgres://me@h:5/"
      "db?skein_schema=other&sslmode=disable&skein_timeout_ms=1000&skein_prepare=off"));
  EXPECT_EQ(settings.schema, "other");
  EXPECT_EQ(settings.timeout, 1s);
  EXPECT_FALSE(settings.prepare);
  EXPECT_EQ(parameter(settings, "host"), "h");
  EXPECT_EQ(parameter(settings, "dbname"), "db");
  EXPECT_EQ(parameter(settings, "sslmode"), "disable");
  EXPECT_EQ(parameter(settings, "target_session_attrs"), "read-write");
}

TEST(PostgresUrl, KeepsWhatItSaysItself) {
  const auto settings = must(
      postgres::parse_settings("postgresql://h1,h2/db?target_session_attrs=any&connect_timeout=9"));
  EXPECT_EQ(parameter(settings, "target_session_attrs"), "any");
  EXPECT_EQ(parameter(settings, "connect_timeout"), "9");
  EXPECT_EQ(settings.schema, "skein");
  EXPECT_TRUE(settings.prepare);
}

TEST(PostgresUrl, ThatIsWrongIsRefusedWithoutItsPassword) {
  for (const std::string url :
       {"postgres://h/db?skein_schema=", "postgres://h/db?skein_schema=a;DROP",
        "postgres://h/db?skein_schema=A", "postgres://h/db?skein_timeout_ms=1",
        "postgres://h/db?skein_timeout_ms=x", "postgres://h/db?skein_prepare=1",
        "postgres://h/db?skein_else=1", "postgres://me:secret@[h/db",
        "postgres://me:secret@h/db?nonsense=1", "postgres://h/db?password=secret%zz"}) {
    const auto settings = postgres::parse_settings(url);
    EXPECT_TRUE(fails(settings, ErrorCode::kInvalid)) << url;
    if (!settings)
      EXPECT_THAT(settings.error().message, testing::Not(testing::HasSubstr("secret")));
  }
  EXPECT_TRUE(
      fails(postgres::parse_settings(std::string("postgres://h\0/db", 16)), ErrorCode::kInvalid));
}

TEST(PostgresUrl, OfAKindThatThereIsNotIsRefusedWithoutItsPassword) {
  for (const std::string url : {"postgre://me:secret@h/db", "postgres:me:secret@h/db"}) {
    const auto store = open_store(url);
    ASSERT_TRUE(fails(store, ErrorCode::kInvalid)) << url;
    EXPECT_THAT(store.error().message, testing::HasSubstr(url.substr(0, url.find(':'))));
    EXPECT_THAT(store.error().message, testing::Not(testing::HasSubstr("secret")));
  }
}

TEST(PostgresUrl, IsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("postgres://me:secret@h/db"), "postgres://me:***@h/db");
  EXPECT_EQ(without_password("postgres://me:se?cr#et@h/db"), "postgres://me:***@h/db");
  EXPECT_EQ(without_password("postgres://me@h:5432/db"), "postgres://me@h:5432/db");
  EXPECT_EQ(without_password("postgres://h/db?sslpassword=secret&password=secret&a=b"),
            "postgres://h/db?sslpassword=***&password=***&a=b");
  EXPECT_EQ(without_password("sqlite:/a:b@c/d"), "sqlite:/a:b@c/d");
}

// A transaction of another process, as far as the feed sees it: it has taken places, and takes its
// time.
class OpenTransaction {
 public:
  explicit OpenTransaction(const std::string& url)
      : schema_(must(postgres::parse_settings(url)).schema) {
    const std::size_t own = url.find("&skein_");
    connection_.reset(PQconnectdb(url.substr(0, own).c_str()));
    EXPECT_EQ(PQstatus(connection_.get()), CONNECTION_OK);
    lock_class_ = postgres::feed_lock_class(must(postgres::parse_settings(url)));
    run("BEGIN");
  }
  // As the store's own transactions do, in this order.
  void announce() {
    run("SELECT pg_advisory_xact_lock_shared(" + std::to_string(lock_class_) +
        ", (last_value & 2147483647)::int) FROM " + schema_ + ".feed");
  }
  void append(ThreadId id, Seq seq) {
    run("INSERT INTO " + schema_ + ".events SELECT " + std::to_string(id.bits()) + ", " +
        std::to_string(seq) + ", g, 0, NULL, NULL, 0, '{}' FROM nextval('" + schema_ +
        ".feed') AS g");
  }
  void run(const std::string& sql) {
    PGresult* result = PQexec(connection_.get(), sql.c_str());
    EXPECT_TRUE(PQresultStatus(result) == PGRES_COMMAND_OK ||
                PQresultStatus(result) == PGRES_TUPLES_OK)
        << PQerrorMessage(connection_.get());
    PQclear(result);
  }

 private:
  struct Finish {
    void operator()(PGconn* handle) const { PQfinish(handle); }
  };
  const std::string schema_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::int64_t lock_class_ = 0;
};

class PostgresFeed : public testing::Test {
 protected:
  const PostgresTables tables_;
  const std::unique_ptr<Store> store_ = must(open_store(tables_.url()));
};

TEST_F(PostgresFeed, NeverSkipsWhatIsCommittedLate) {
  const ThreadId id = create_thread(*store_).id;
  std::string cursor;
  EXPECT_THAT(drain(*store_, cursor), SizeIs(1));
  OpenTransaction late(tables_.url());
  late.announce();
  late.append(ThreadId::from_bits(7), 1);
  must_append(*store_, id, message("early"));
  EXPECT_THAT(drain(*store_, cursor), IsEmpty()) << "an earlier place is still open";
  late.run("COMMIT");
  EXPECT_THAT(drain_text(*store_, cursor),
              ElementsAre("appended 000000000007 1", "appended " + id.str() + " 1"));
}

TEST_F(PostgresFeed, GoesOnWhenATransactionIsRolledBack) {
  const ThreadId id = create_thread(*store_).id;
  std::string cursor;
  drain(*store_, cursor);
  OpenTransaction late(tables_.url());
  late.announce();
  late.append(ThreadId::from_bits(7), 1);
  must_append(*store_, id, message("early"));
  std::jthread follower([&] {
    const ChangeBatch batch = must(store_->changes(cursor, 10, 50s));
    ASSERT_THAT(batch.changes, SizeIs(1));
    EXPECT_EQ(describe(batch.changes[0]), "appended " + id.str() + " 1");
  });
  late.run("ROLLBACK");
}

TEST_F(PostgresFeed, FromNowTellsWhatIsCommittedLater) {
  OpenTransaction late(tables_.url());
  late.announce();
  late.append(ThreadId::from_bits(7), 1);
  std::string cursor = must(store_->changes(Store::kNow, 1, 0ms)).cursor;
  late.run("COMMIT");
  EXPECT_THAT(drain_text(*store_, cursor), ElementsAre("appended 000000000007 1"));
}

TEST_F(PostgresFeed, IsNotHeldBackByTransactionsOfOthers) {
  OpenTransaction other(tables_.url());
  other.run("SELECT pg_current_xact_id()");
  std::string cursor;
  const ThreadId id = create_thread(*store_).id;
  EXPECT_THAT(drain_text(*store_, cursor), ElementsAre("created " + id.str()));
}

TEST(PostgresTablesOfAStore, AreMadeOnceByManyWhoStartAtTheSameTime) {
  PostgresServer server;
  std::vector<std::jthread> openers;
  for (int i = 0; i < 8; ++i)
    openers.emplace_back([&] { create_thread(*must(open_store(server.url()))); });
  openers.clear();
  EXPECT_EQ(server.sql("SELECT count(*) FROM skein.threads"), "8");
  EXPECT_EQ(server.sql("SELECT count(*) - max(version) FROM skein.migrations"), "0");
  server.sql("INSERT INTO skein.migrations(version) VALUES(99)");
  EXPECT_TRUE(fails(open_store(server.url()), ErrorCode::kInvalid, {"99", "later version"}));
}

TEST(PostgresTablesOfAStore, NeedADatabaseInUtf8) {
  PostgresServer server;
  server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  std::string url = server.url();
  url.replace(url.find("/postgres?"), 10, "/latin?");
  EXPECT_TRUE(fails(open_store(url), ErrorCode::kInvalid, {"UTF8", "LATIN1"}));
}

TEST(PostgresTablesOfAStore, AreReadAsTheyAreAndDamageIsTold) {
  PostgresServer server;
  auto store = must(open_store(server.url()));
  const ThreadId hurt =
      create_thread(*store, "agent", {message("a"), message("b"), message("c")}).id;
  const ThreadId whole = create_thread(*store, "agent", {message("d")}).id;
  const ThreadId headless = create_thread(*store).id;
  must(store->write(std::vector{record("runs", "r", "1")}));
  const std::string id = std::to_string(hurt.bits());
  server.sql("UPDATE skein.events SET body = replace(body, 'a', 'x') WHERE seq = 1 AND id = " + id);
  server.sql("DELETE FROM skein.events WHERE seq = 2 AND id = " + id);
  server.sql("UPDATE skein.manifests SET body = '{}' WHERE id = " +
             std::to_string(headless.bits()));
  server.sql("UPDATE skein.records SET bytes = 'x'");
  const std::vector<Event> events = read_all(*store, hurt);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_TRUE(std::holds_alternative<Unreadable>(events[0].payload));
  EXPECT_TRUE(std::holds_alternative<Unreadable>(events[1].payload));
  EXPECT_EQ(text_of(events[2]), "c");
  EXPECT_THAT(texts(read_all(*store, whole)), ElementsAre("d"));
  EXPECT_TRUE(fails(store->get(headless), ErrorCode::kDamaged));
  EXPECT_THAT(list_ids(*store, {}), SizeIs(2));
  EXPECT_THAT(scan_all(*store, "runs"), IsEmpty());
  std::vector<std::string> found;
  const CheckSummary summary =
      must(store->check({}, [&](const Finding& finding) { found.push_back(finding.what); }));
  EXPECT_EQ(summary.health, Health::kBroken);
  EXPECT_THAT(found, SizeIs(4));
}

}  // namespace
}  // namespace skein::test
