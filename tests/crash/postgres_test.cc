// What a PostgreSQL that fails does to a store on it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/history.h"
#include "crash/harness/process.h"
#include "crash/harness/socket_proxy.h"
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
using test::with_key;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kPatient[] = "skein_timeout_ms=100000";

std::unique_ptr<Store> open_patient(const PostgresServer& server) {
  return must(open_store(server.url(kPatient)));
}

// --- Histories of several processes ---

struct Told {
  History history;
  FinalLists lists;
};

class Histories : public testing::Test {
 protected:
  // Two processes with eight writers and eight readers each; `fault` is called until both are done.
  Told run(const std::string& url, int appends, const std::string& bug,
           const std::function<void(std::vector<std::unique_ptr<Child>>&, int round)>& fault) {
    auto store = must(open_store(url));
    std::vector<std::string> threads;
    for (int i = 0; i < 4; ++i) threads.push_back(create_thread(*store).id.str());
    std::vector<std::unique_ptr<Child>> children;
    for (const char* name : {"a", "b"}) {
      Spawn spawn{.command = {program("history_worker"), "run", url, name, "8", "8",
                              std::to_string(appends), bug}};
      spawn.command.insert(spawn.command.end(), threads.begin(), threads.end());
      spawn.stdout_path = folder_ / name;
      spawn.stderr_path = spawn.stdout_path + ".stderr";
      children.push_back(std::make_unique<Child>(spawn));
    }
    const auto running = [&] { return children[0]->running() || children[1]->running(); };
    for (int round = 0; running(); ++round) fault(children, round);
    for (const auto& child : children) EXPECT_TRUE(child->wait(60s).clean());
    Told run;
    run.lists = must(read_lists(*store, threads));
    for (const char* name : {"a", "b"}) {
      const auto added = run.history.add(read_file(folder_ / name));
      EXPECT_TRUE(added) << added.error().message
                         << read_file(folder_ / (std::string(name) + ".stderr"));
    }
    return run;
  }

  const TempFolder folder_;
};

TEST_F(Histories, OfTwoProcessesUnderFaultsHaveNoAnomaly) {
  PostgresServer server;
  int faults = 0;
  const int appends = rounds(60, 1500);
  const Told run = this->run(server.url(kPatient), appends, "none",
                             [&](std::vector<std::unique_ptr<Child>>& children, int round) {
                               pause_for(150ms);
                               switch (round % 4) {
                                 case 0:
                                   server.sql(
                                       "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                       " WHERE application_name = 'skein'");
                                   break;
                                 case 1:
                                   server.stop();
                                   server.start();
                                   break;
                                 case 2:
                                   children[0]->signal(SIGSTOP);
                                   pause_for(100ms);
                                   children[0]->signal(SIGCONT);
                                   break;
                                 default:
                                   server.sql(
                                       "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
                                       " WHERE application_name = 'skein'");
                               }
                               ++faults;
                             });
  EXPECT_THAT(find_anomalies(run.history, run.lists, true), IsEmpty());
  EXPECT_EQ(run.history.acknowledged(), static_cast<std::uint64_t>(16 * appends));
  EXPECT_FALSE(run.history.reads.empty());
  EXPECT_GT(faults, 0);
  figure(fmt::format(
      "postgres: {} appends of 16 writers in 2 processes, {} reads, {} faults, no anomaly",
      run.history.acknowledged(), run.history.reads.size(), faults));
}

class SeededBugs : public Histories, public testing::WithParamInterface<std::string> {};

TEST_P(SeededBugs, AreCaught) {
  const test::PostgresTables tables;
  const Told run = this->run(tables.url(), 20, GetParam(), [](auto&, int) { pause_for(10ms); });
  EXPECT_FALSE(find_anomalies(run.history, run.lists, true).empty());
}

INSTANTIATE_TEST_SUITE_P(, SeededBugs, testing::Values("forgets", "repeats", "stale"),
                         [](const auto& bug) { return bug.param; });

TEST(HistoryCheck, FindsEachKindOfAnomaly) {
  const FinalLists lists{{"t", {"a", "b"}}};
  const auto anomalies = [&](const std::string& text) {
    History history;
    EXPECT_TRUE(history.add("append t a 1 2 1\nappend t b 3 4 2\n" + text));
    return find_anomalies(history, lists, false);
  };
  EXPECT_THAT(anomalies("read t 5 6 a,b\nread t 3 4 a\nfed t 1\nfed t 2\n"), IsEmpty());
  EXPECT_THAT(anomalies("append t c 5 6 3\n"), ElementsAre(HasSubstr("lost")));
  EXPECT_THAT(anomalies("append t c 5 6 0\n"), IsEmpty()) << "nobody was told that it is there";
  EXPECT_THAT(anomalies("append t a 5 6 2\n"), ElementsAre(HasSubstr("elsewhere")));
  EXPECT_THAT(anomalies("read t 5 6 a\n"), ElementsAre(HasSubstr("stale")));
  EXPECT_THAT(anomalies("read t 1 2 a\nread t 3 3 -\n"), ElementsAre(HasSubstr("stale")));
  EXPECT_THAT(anomalies("read t 5 6 b,a\n"), ElementsAre(HasSubstr("another order")));
  EXPECT_THAT(anomalies("fed t 2\n"), ElementsAre(HasSubstr("feed")));
  EXPECT_THAT(anomalies("fed t 1\nfed t 1\n"), ElementsAre(HasSubstr("feed")));
  History none;
  EXPECT_THAT(find_anomalies(none, {{"t", {"a"}}}, false), ElementsAre(HasSubstr("nobody wrote")));
  EXPECT_THAT(find_anomalies(none, {{"t", {"a", "a"}}}, false),
              testing::Contains(HasSubstr("twice")));
}

TEST(HistoryCheck, ComparesTheFeedOfTheClientThatFollowedLast) {
  const FinalLists lists{{"t", {"a", "b"}}};
  const auto anomalies = [&](const std::string& first, const std::string& second) {
    History history;
    EXPECT_TRUE(history.add("append t a 1 2 1\nappend t b 3 4 2\n" + first));
    EXPECT_TRUE(history.add(second));
    return find_anomalies(history, lists, true);
  };
  const std::string whole = "fed t 1\nfed t 2\n";
  const std::string half = "fed t 1\n";
  EXPECT_THAT(anomalies(half + "followed 5\n", whole + "followed 6\n"), IsEmpty());
  EXPECT_THAT(anomalies(whole + "followed 5\n", half + "followed 6\n"),
              ElementsAre(HasSubstr("told of 1 events")));
  EXPECT_THAT(anomalies(whole + "followed 5\n", "followed 6\n"),
              ElementsAre(HasSubstr("told of 0 events")));
  EXPECT_THAT(anomalies(whole, half), ElementsAre(HasSubstr("nobody followed")));
}

// --- Answers that get lost ---

// A store behind a proxy, with all connections open: messages are those of writes alone.
struct BehindProxy {
  const test::PostgresTables tables;
  const std::size_t at = tables.url().find("host=") + std::string("host=").size();
  const std::string folder = tables.url().substr(at, tables.url().find('&', at) - at);
  SocketProxy proxy{folder};
  std::unique_ptr<Store> store = must(open_store(
      std::string(tables.url()).replace(at, folder.size(), proxy.folder()) + "&" + kPatient));

  BehindProxy() {
    create_thread(*store);
    create_thread(*store);
  }
};

std::string name_of(SocketProxy::Loses what) {
  if (what == SocketProxy::Loses::kRequest) return "Request";
  return what == SocketProxy::Loses::kAnswer ? "Answer" : "AnswerForError";
}

struct Loss {
  int message;  // of a write: the first reads, the second commits
  SocketProxy::Loses what;
};

class LostMessages : public testing::TestWithParam<Loss> {};

TEST_P(LostMessages, LeaveEveryWriteDoneExactlyOnce) {
  BehindProxy behind;
  auto& [tables, at, folder, proxy, store] = behind;
  // Made by somebody else, so that the store has to look at them first.
  auto other = must(open_store(tables.url()));
  const ThreadId id = create_thread(*other, "agent", {message("before")}).id;
  const ThreadId second = create_thread(*other, "agent", {message("before")}).id;

  proxy.lose(GetParam().message, GetParam().what);
  EXPECT_EQ(must_append(*store, id, message("without a key")), 2U);
  ASSERT_TRUE(proxy.lost());
  proxy.lose(GetParam().message, GetParam().what);
  EXPECT_EQ(must_append(*store, second, with_key(message("with a key"), "k")), 2U);
  EXPECT_THAT(texts(read_all(*store, id)), ElementsAre("before", "without a key"));
  EXPECT_THAT(texts(read_all(*store, second)), ElementsAre("before", "with a key"));

  const Manifest before = test::get_thread(*store, id);
  proxy.lose(GetParam().message, GetParam().what);
  const Manifest after = must(store->update(id, test::patch(R"({"title":"x"})"),
                                            {.expect_version = before.version, .fence = {}}));
  EXPECT_EQ(test::get_thread(*store, id).version, after.version);

  proxy.lose(GetParam().message, GetParam().what);
  RecordWrite write = test::record("runs", "r", "1");
  write.expect_version = 0;
  const Version version = must(store->write({&write, 1})).at(0);
  EXPECT_EQ(test::scan_all(*store, "runs").at(0).version, version);

  proxy.lose(GetParam().message, GetParam().what);
  const Lease lease = must(store->lease(id, "me", 60s, std::nullopt));
  EXPECT_TRUE(test::ok(store->lease(id, "me", 60s, lease.token)));

  proxy.lose(GetParam().message, GetParam().what);
  const ThreadId made = create_thread(*store, "agent", {message("first")}).id;
  EXPECT_THAT(texts(read_all(*store, made)), ElementsAre("first"));

  proxy.lose(GetParam().message, GetParam().what);
  EXPECT_TRUE(must(store->remove(made)));
  EXPECT_FALSE(test::exists(*store, made));
  EXPECT_EQ(
      must(store->check({}, [](const Finding& finding) { ADD_FAILURE() << finding.what; })).health,
      Health::kHealthy);
}

INSTANTIATE_TEST_SUITE_P(
    , LostMessages,
    testing::Values(Loss{1, SocketProxy::Loses::kRequest}, Loss{1, SocketProxy::Loses::kAnswer},
                    Loss{2, SocketProxy::Loses::kRequest}, Loss{2, SocketProxy::Loses::kAnswer},
                    Loss{2, SocketProxy::Loses::kAnswerForError}),
    [](const auto& loss) { return name_of(loss.param.what) + std::to_string(loss.param.message); });

class LostMessage : public testing::TestWithParam<SocketProxy::Loses> {};

TEST_P(LostMessage, OfAnAppendThatTakesOneLeavesItDoneExactlyOnce) {
  BehindProxy behind;
  Store& store = *behind.store;
  // A thread each: one whose append had to be looked into takes two messages for a while.
  for (const std::string key : {"", "k"}) {
    const ThreadId id = create_thread(store, "agent", {message("before")}).id;
    must_append(store, id, message("meanwhile"));
    behind.proxy.lose(1, GetParam());
    must_append(store, id, with_key(message("one"), key));
    ASSERT_TRUE(behind.proxy.lost());
    must_append(store, id, with_key(message("two"), key.empty() ? "" : "l"));
    EXPECT_THAT(texts(read_all(store, id)), ElementsAre("before", "meanwhile", "one", "two"));
  }
}

TEST_P(LostMessage, OfAnAppendIsNotMistakenForOneThatSomebodyElseDid) {
  BehindProxy behind;
  auto other = must(open_store(behind.tables.url()));
  const ThreadId id = create_thread(*behind.store).id;
  Event same = message("the same");
  same.timestamp = Timestamp::from_ms(1'000);
  must_append(*behind.store, id, same);
  behind.proxy.lose(1, GetParam(), [&] { must_append(*other, id, same); });
  must_append(*behind.store, id, same);
  ASSERT_TRUE(behind.proxy.lost());
  EXPECT_EQ(read_all(*other, id).size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(, LostMessage,
                         testing::Values(SocketProxy::Loses::kRequest, SocketProxy::Loses::kAnswer,
                                         SocketProxy::Loses::kAnswerForError),
                         [](const auto& loss) { return name_of(loss.param); });

// --- Servers that go away, or do not do what they are asked ---

TEST(FailingServer, ThatIsRestartedIsFoundAgain) {
  PostgresServer server;
  auto store = open_patient(server);
  const ThreadId id = create_thread(*store).id;
  must_append(*store, id, message("before"));
  server.stop();
  std::jthread writer([&] { EXPECT_EQ(must_append(*store, id, message("meanwhile")), 2U); });
  std::jthread reader([&] { EXPECT_GE(read_all(*store, id).size(), 1U); });
  pause_for(200ms);
  server.start();
  writer.join();
  EXPECT_EQ(must_append(*store, id, message("after")), 3U);
}

TEST(FailingServer, ThatIsGoneGivesAClearErrorAndIsFoundAgainLater) {
  PostgresServer server;
  auto store = must(open_store(server.url("skein_timeout_ms=2000")));
  const ThreadId id = create_thread(*store).id;
  server.stop();
  EXPECT_TRUE(fails(append_one(*store, id, message("x")), ErrorCode::kIo, {"PostgreSQL"}));
  EXPECT_TRUE(fails(store->get(id), ErrorCode::kIo, {"PostgreSQL"}));
  EXPECT_TRUE(fails(open_store(server.url()), ErrorCode::kIo, {"cannot connect"}));
  server.start();
  // How long the server takes to let somebody in is not ours to say.
  EXPECT_TRUE(
      wait_until([&] { return append_one(*store, id, with_key(message("y"), "y")).has_value(); }));
  EXPECT_THAT(texts(read_all(*store, id)), ElementsAre("y"));
}

TEST(FailingServer, ThatTakesNoWritesIsReadAndSaysSo) {
  PostgresServer server;
  auto store = must(open_store(server.url("skein_timeout_ms=500&target_session_attrs=any")));
  const ThreadId id = create_thread(*store, "agent", {message("a")}).id;
  const auto set_read_only = [&](const std::string& value) {
    server.sql("ALTER SYSTEM SET default_transaction_read_only = " + value);
    server.sql("SELECT pg_reload_conf()");
    ASSERT_TRUE(
        wait_until([&] { return server.sql("SHOW default_transaction_read_only") == value; }));
  };
  set_read_only("on");
  EXPECT_TRUE(wait_until([&] {
    return fails(append_one(*store, id, message("b")), ErrorCode::kIo, {"takes no writes"});
  }));
  EXPECT_GE(read_all(*store, id).size(), 1U);
  server.sql("ALTER SYSTEM RESET default_transaction_read_only");
  server.sql("SELECT pg_reload_conf()");
  EXPECT_TRUE(wait_until([&] { return append_one(*store, id, message("c")).has_value(); }));
}

// A tablespace with little room, for the tables of whoever comes after. Needs mounts, made before
// the server was started.
class SmallTablespace {
 public:
  explicit SmallTablespace(const PostgresServer& server) : folder_(server.folder() + "/small") {
    mounted_ = SmallMemoryDisk::mount(folder_, 2048).has_value();
    struct stat owner{};
    if (!mounted_ || ::stat(server.folder().c_str(), &owner) != 0) return;
    std::filesystem::create_directory(folder_ + "/tables");
    good_ = ::chown((folder_ + "/tables").c_str(), owner.st_uid, owner.st_gid) == 0 &&
            server.try_sql("CREATE TABLESPACE small LOCATION '" + folder_ + "/tables'") &&
            server.try_sql("ALTER DATABASE postgres SET default_tablespace = small");
  }
  ~SmallTablespace() {
    if (mounted_) SmallMemoryDisk::unmount(folder_);
  }
  SmallTablespace(const SmallTablespace&) = delete;
  SmallTablespace& operator=(const SmallTablespace&) = delete;

  bool good() const { return good_; }
  void fill() const {
    std::ofstream ballast(folder_ + "/ballast", std::ios::binary);
    while (ballast << std::string(1024, 'x') << std::flush) continue;
  }
  void make_room() const { std::filesystem::remove(folder_ + "/ballast"); }

 private:
  const std::string folder_;
  bool mounted_ = false;
  bool good_ = false;
};

TEST(FailingServer, WhoseDiskIsFullSaysSoAndTakesWritesWhenThereIsRoom) {
  if (const auto allowed = allow_mounts(); !allowed) {
    GTEST_SKIP() << "NOT TESTED: a full disk needs mounts, which are not permitted here ("
                 << allowed.error().message << "). Run as root.";
  }
  PostgresServer server;
  const SmallTablespace disk(server);
  ASSERT_TRUE(disk.good());
  auto store = open_patient(server);
  const ThreadId id = create_thread(*store).id;
  std::vector<std::string> acknowledged;
  const auto append_next = [&] {
    const std::string text = fmt::format("{:04} {}", acknowledged.size(), std::string(1000, 'x'));
    auto appended = append_one(*store, id, message(text));
    if (appended) acknowledged.push_back(text);
    return appended;
  };
  ASSERT_TRUE(test::ok(append_next()));

  disk.fill();
  Result<Appended> refused;
  for (int i = 0; i < 500 && refused; ++i) refused = append_next();
  EXPECT_TRUE(fails(refused, ErrorCode::kIo, {"the server's disk is full"}));
  EXPECT_EQ(texts(read_all(*store, id)), acknowledged);

  disk.make_room();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(test::ok(append_next()));
  EXPECT_EQ(texts(read_all(*store, id)), acknowledged);
  EXPECT_EQ(
      must(store->check({}, [](const Finding& finding) { ADD_FAILURE() << finding.what; })).health,
      Health::kHealthy);
  store.reset();
}

TEST(FailingServer, ThatDidNotWaitForItsStandbyHasNotAcknowledged) {
  PostgresServer server({"synchronous_commit=on"});
  auto store = must(open_store(server.url("skein_timeout_ms=2000")));
  const ThreadId id = create_thread(*store).id;
  server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  server.sql("SELECT pg_reload_conf()");
  std::atomic<bool> over = false;
  int cancelled = 0;
  std::jthread impatient([&] {
    while (!over) {
      const std::string count = server.sql(
          "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = "
          "'SyncRep'");
      cancelled += std::stoi(count);
    }
  });
  // The first commits may still be without a standby: the setting takes its time to get around.
  EXPECT_TRUE(wait_until(
      [&] { return fails(append_one(*store, id, message("x")), ErrorCode::kIo, {"standby"}); }));
  over = true;
  impatient.join();
  EXPECT_GT(cancelled, 0);
  const std::size_t before = read_all(*store, id).size();
  server.sql("ALTER SYSTEM RESET synchronous_standby_names");
  server.sql("SELECT pg_reload_conf()");
  EXPECT_TRUE(
      wait_until([&] { return append_one(*store, id, with_key(message("y"), "y")).has_value(); }));
  EXPECT_GT(read_all(*store, id).size(), before);
}

TEST(FailingServer, WhoseRowsSomebodyKeepsLockedHoldsUpNoOtherThread) {
  PostgresServer server;
  auto store = must(open_store(server.url("skein_timeout_ms=3000")));
  const ThreadId locked = create_thread(*store).id;
  // Enough of them that some share a transaction with the one that is locked.
  std::vector<ThreadId> free;
  for (int i = 0; i < 8; ++i) free.push_back(create_thread(*store).id);
  // What a person does in psql, and forgets.
  std::jthread person([&] {
    server.try_sql(fmt::format(
        "BEGIN; SELECT 1 FROM skein.threads WHERE id = {} FOR UPDATE; SELECT pg_sleep(600)",
        locked.bits()));
  });
  ASSERT_TRUE(wait_until([&] {
    return server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1";
  }));
  std::jthread other([&] {
    EXPECT_TRUE(fails(append_one(*store, locked, message("x")), ErrorCode::kIo, {"lock"}));
  });
  for (const ThreadId id : free) {
    EXPECT_TRUE(wait_until(
        [&] { return append_one(*store, id, with_key(message("y"), "y")).has_value(); }));
  }
  other.join();
  server.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
}

}  // namespace
}  // namespace skein::crash
