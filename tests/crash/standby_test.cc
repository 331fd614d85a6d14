// Standbys of PostgreSQL, and a follower of the change feed through crashes and a failover.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
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
using test::with_key;
using testing::ElementsAre;

constexpr char kAnyServer[] = "target_session_attrs=any&skein_timeout_ms=500";

void expect_refused(Store& store, ThreadId id) {
  EXPECT_TRUE(fails(store.changes("", 10, 0ms), ErrorCode::kIo,
                    {"standby", "pg_is_in_recovery()", "change feed", "connect to the primary"}));
  EXPECT_TRUE(fails(store.changes(Store::kNow, 10, 0ms), ErrorCode::kIo, {"standby"}));
  EXPECT_TRUE(fails(store.lease(id, "me", 60s, std::nullopt), ErrorCode::kIo,
                    {"standby", "pg_is_in_recovery()", "Leases", "connect to the primary"}));
  EXPECT_TRUE(fails(append_one(store, id, message("x")), ErrorCode::kIo, {"standby"}));
}

void expect_taken(Store& store, ThreadId id) {
  EXPECT_TRUE(wait_until([&] { return store.changes("", 10, 0ms).has_value(); }));
  const Lease lease = must(store.lease(id, "me", 60s, std::nullopt));
  must(store.lease(id, "me", 0ms, lease.token));
  must_append(store, id, message("on the primary"));
  EXPECT_FALSE(must(store.changes("", 10, 0ms)).changes.empty());
}

TEST(Standby, ServesReadsAndRefusesChangesAndLeasesUntilItIsPromoted) {
  const PostgresServer primary;
  const ThreadId id =
      create_thread(*must(open_store(primary.url())), "agent", {message("before")}).id;
  const auto standby = PostgresServer::standby_of(primary);
  EXPECT_TRUE(fails(open_store(standby->url()), ErrorCode::kIo, {"cannot connect", "read-only"}));
  const auto store = must(open_store(standby->url(kAnyServer)));
  EXPECT_THAT(texts(read_all(*store, id)), ElementsAre("before"));
  expect_refused(*store, id);
  standby->promote();
  expect_taken(*store, id);
}

TEST(Standby, ThatWasThePrimaryWhenTheStoreWasOpenedIsRefused) {
  PostgresServer server;
  const auto store = must(open_store(server.url(kAnyServer)));
  const ThreadId id = create_thread(*store, "agent", {message("before")}).id;
  expect_taken(*store, id);
  server.demote();
  expect_refused(*store, id);
  EXPECT_EQ(read_all(*store, id).size(), 2U);
  server.promote();
  expect_taken(*store, id);
}

TEST(Standby, IsLeftForThePrimaryThatTheUrlNamesToo) {
  const PostgresServer primary;
  const ThreadId id = create_thread(*must(open_store(primary.url()))).id;
  const auto standby = PostgresServer::standby_of(primary);
  const auto store = must(
      open_store("postgres://skein@/postgres?host=" + standby->folder() + "," + primary.folder()));
  expect_taken(*store, id);
}

// --- A follower through crashes ---

// Writers on several connections, so that transactions overlap, until they are told to stop.
class Writers {
 public:
  Writers(const std::string& url, const std::vector<ThreadId>& threads) {
    for (int process = 0; process < 3; ++process) {
      stores_.push_back(must(open_store(url)));
      for (int writer = 0; writer < 4; ++writer)
        writers_.emplace_back([this, &threads, process, writer](const std::stop_token& stop) {
          write(*stores_[static_cast<std::size_t>(process)], threads, process * 4 + writer, stop);
        });
    }
  }
  void stop() { writers_.clear(); }
  std::uint64_t written() const { return written_; }

 private:
  void write(Store& store, const std::vector<ThreadId>& threads, int writer,
             const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      const ThreadId id = threads[static_cast<std::size_t>(i + writer) % threads.size()];
      const std::string key = fmt::format("{}-{}", writer, i);
      while (!append_one(store, id, with_key(message(key), key))) continue;
      ++written_;
    }
  }

  std::vector<std::unique_ptr<Store>> stores_;
  std::atomic<std::uint64_t> written_ = 0;
  std::vector<std::jthread> writers_;
};

class FollowedFeed : public testing::Test {
 protected:
  void start_follower() {
    follower_ = std::make_unique<Child>(Spawn{.command = {program("feed_follower"), url_, file_},
                                              .stderr_path = file_ + ".stderr"});
  }
  void kill_follower() {
    follower_->kill();
    start_follower();
  }
  // Something was written, and the follower has got further.
  void expect_progress(const Writers& writers) {
    const std::uint64_t written = writers.written();
    const auto size = [this] {
      std::error_code missing;
      const auto bytes = std::filesystem::file_size(file_, missing);
      return missing ? 0 : bytes;
    };
    const auto told = size();
    EXPECT_TRUE(wait_until([&] { return writers.written() > written + 50 && size() > told; }, 60s))
        << read_file(file_ + ".stderr");
  }
  // As often as the row says: the follower is killed at one time, the server at another.
  void kill_both(
      PostgresServer& server, Writers& writers, int rounds,
      const std::function<void()>& after_restart = [] {}) {
    for (int round = 0; round < rounds; ++round) {
      expect_progress(writers);
      kill_follower();
      expect_progress(writers);
      server.stop();
      if (round % 3 == 2) kill_follower();
      server.start();
      after_restart();
    }
    expect_progress(writers);
    kills_ += rounds;
  }
  // Nothing is missing, nothing came twice, and each thread's events came in order.
  void expect_all_told() {
    const auto store = must(open_store(url_));
    std::map<std::string, Seq> last;
    std::uint64_t events = 0;
    for (const ThreadId id : threads_) {
      last[id.str()] = test::get_thread(*store, id).last_seq;
      events += last[id.str()];
    }
    const auto count_told = [&] {
      const std::string text = read_file(file_);
      return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    };
    // The threads themselves are changes, too.
    EXPECT_TRUE(wait_until([&] { return count_told() >= events + threads_.size(); }, 60s));
    follower_->kill();
    std::map<std::string, Seq> told;
    std::istringstream lines(read_file(file_));
    std::string cursor, thread;
    for (Seq seq = 0; lines >> cursor >> thread >> seq;) {
      if (thread == "-") continue;
      ASSERT_EQ(seq, told[thread] + 1) << "of thread " << thread << " at " << cursor;
      told[thread] = seq;
    }
    EXPECT_EQ(told, last);
    figure(
        fmt::format("{}: {} events followed through {} kills of the server and {} of the follower",
                    what_, events, kills_, kills_ + kills_ / 3));
  }
  void make_threads() {
    const auto store = must(open_store(url_));
    for (int i = 0; i < 8; ++i) threads_.push_back(create_thread(*store).id);
  }

  const TempFolder folder_;
  const std::string file_ = folder_ / "told";
  std::string url_;
  std::string what_;
  std::vector<ThreadId> threads_;
  std::unique_ptr<Child> follower_;
  int kills_ = 0;
};

constexpr char kPatience[] = "skein_timeout_ms=100000";

TEST_F(FollowedFeed, OfAPrimaryMissesNothingThroughKills) {
  PostgresServer server;
  what_ = "primary";
  url_ = server.url(kPatience);
  make_threads();
  Writers writers(url_, threads_);
  start_follower();
  kill_both(server, writers, rounds(3, 20));
  writers.stop();
  expect_all_told();
}

TEST_F(FollowedFeed, OfAPromotedStandbyMissesNothingThroughKills) {
  PostgresServer primary({"wal_retrieve_retry_interval=100ms"});
  const auto standby = PostgresServer::standby_of(primary);
  what_ = "promoted standby";
  url_ = "postgres://skein@/postgres?host=" + primary.folder() + "," + standby->folder() + "&" +
         kPatience;
  // Nothing that was acknowledged, or seen by a follower, may be lost when the primary is.
  primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
  primary.sql("SELECT pg_reload_conf()");
  const auto wait_for_standby = [&] {
    const std::string here = primary.sql("SELECT pg_current_wal_lsn()");
    ASSERT_TRUE(wait_until([&] {
      return primary.sql(
                 "SELECT count(*) FROM pg_stat_replication WHERE sync_state <> 'async'"
                 " AND flush_lsn >= '" +
                 here + "'") == "1";
    }));
  };
  wait_for_standby();
  make_threads();
  Writers writers(url_, threads_);
  start_follower();
  kill_both(primary, writers, rounds(1, 5), wait_for_standby);
  primary.stop();
  standby->promote();
  kill_both(*standby, writers, rounds(2, 20));
  writers.stop();
  expect_all_told();
}

}  // namespace
}  // namespace skein::crash
