// What is damaged is found, told, and takes nothing else with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <thread>

#include "core/sqlite.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SqliteDamage : public testing::Test {
 protected:
  void SetUp() override { reopen(); }

  void reopen() {
    store_.reset();
    StoreOptions options;
    options.notice = [this](const Finding& finding) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(finding);
    };
    store_ = must(open_store("sqlite:" + path(), options));
  }
  std::string path() const { return (folder_.path() / "x.db").string(); }

  void change(const std::string& sql) const {
    must(must(Database::open(path(), 5000)).execute(sql.c_str()));
  }
  // Changes the file, which the store then reads as if it had never written it.
  void damage(const std::string& sql) {
    change(sql);
    reopen();
  }
  std::vector<Finding> check(bool repair = false) {
    std::vector<Finding> findings;
    CheckOptions options;
    options.repair = repair;
    summary_ = must(store_->check(options, [&](const Finding& f) { findings.push_back(f); }));
    return findings;
  }
  ThreadId thread_of(std::vector<Event> events) {
    return create_thread(*store_, "agent", std::move(events)).id;
  }

  TempDir folder_;
  std::mutex mutex_;
  std::vector<Finding> notices_;  // under mutex_
  CheckSummary summary_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteDamage, AChangedEventIsUnreadableAndItsNeighboursAreNot) {
  const ThreadId id = thread_of({message("one"), message("two"), message("three")});
  damage("UPDATE events SET body = replace(body, 'two', 'tvo')");
  const auto events = read_all(*store_, id);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(text_of(events[0]), "one");
  EXPECT_EQ(events[1].seq, 2U);
  EXPECT_THAT(std::get<Unreadable>(events[1].payload).raw, HasSubstr("tvo"));
  EXPECT_EQ(text_of(events[2]), "three");
  EXPECT_EQ(must_append(*store_, id, message("four")), 4U);
  const auto findings = check();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].thread, id);
  EXPECT_EQ(findings[0].seq, 2U);
  EXPECT_EQ(summary_.health, Health::kBroken);
}

TEST_F(SqliteDamage, EveryColumnOfAnEventIsCovered) {
  for (const char* change : {"tokens = 7", "key = 'other'", "updated = updated + 1",
                             "lag = lag + 1", "crc = crc + 1", "g = g + 1000"}) {
    const ThreadId id = thread_of({with_key(message("one"), "k")});
    damage("UPDATE events SET " + std::string(change) + " WHERE id = " + std::to_string(id.bits()));
    EXPECT_TRUE(std::holds_alternative<Unreadable>(read_all(*store_, id)[0].payload)) << change;
  }
}

TEST_F(SqliteDamage, AMissingEventKeepsItsPlaceInBothDirections) {
  const ThreadId id = thread_of({message("one"), message("two"), message("three")});
  damage("DELETE FROM events WHERE seq = 2");
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    ReadRange range;
    range.direction = direction;
    const auto events = read_all(*store_, id, range);
    ASSERT_THAT(events, SizeIs(3));
    EXPECT_EQ(events[1].seq, 2U);
    EXPECT_THAT(std::get<Unreadable>(events[1].payload).reason, HasSubstr("missing"));
  }
  EXPECT_THAT(check(), SizeIs(1));
}

TEST_F(SqliteDamage, AForkOfADamagedThreadKeepsTheDamageInItsPlace) {
  const ThreadId id = thread_of({message("one"), message("two"), message("three")});
  damage("UPDATE events SET body = replace(body, 'two', 'tvo')");
  NewThread fork;
  fork.agent_id = "agent";
  fork.from = Parent{id, 3};
  const auto events = read_all(*store_, must(store_->create(fork)).id);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_TRUE(std::holds_alternative<Unreadable>(events[1].payload));
  EXPECT_EQ(text_of(events[2]), "three");
}

TEST_F(SqliteDamage, AThreadWithADamagedManifestIsReportedAndLeftOutOfLists) {
  const ThreadId bad = thread_of({message("still there")});
  const ThreadId good = thread_of({});
  damage("UPDATE manifests SET body = replace(body, 'agent', 'agemt') WHERE id = " +
         std::to_string(bad.bits()));
  EXPECT_TRUE(fails(store_->get(bad), ErrorCode::kDamaged, {bad.str()}));
  EXPECT_THAT(list_ids(*store_, {}), ElementsAre(good));
  {
    const std::lock_guard lock(mutex_);
    ASSERT_THAT(notices_, SizeIs(1));
    EXPECT_EQ(notices_[0].thread, bad);
  }
  EXPECT_EQ(must_append(*store_, bad, message("more")), 2U);
  EXPECT_THAT(texts(read_all(*store_, bad)), ElementsAre("still there", "more"));
  EXPECT_THAT(check(), SizeIs(1));
  EXPECT_TRUE(must(store_->remove(bad)));
  EXPECT_THAT(check(), SizeIs(0));
}

TEST_F(SqliteDamage, ADamagedThreadDoesNotFailThoseWhoShareItsTransaction) {
  const ThreadId bad = thread_of({});
  const ThreadId good = thread_of({});
  damage("UPDATE manifests SET crc = crc + 1 WHERE id = " + std::to_string(bad.bits()));
  EXPECT_TRUE(fails(store_->update(bad, patch(R"({"title":"t"})"), {}), ErrorCode::kDamaged));
  EXPECT_TRUE(ok(store_->update(good, patch(R"({"title":"t"})"), {})));
}

TEST_F(SqliteDamage, ADamagedRecordIsReportedAndLeftOut) {
  const RecordWrite writes[] = {record("runs", "a", "1"), record("runs", "b", "2")};
  must(store_->write(writes));
  damage("UPDATE records SET bytes = x'00' WHERE key = 'a'");
  EXPECT_THAT(scan_keys(*store_, {.collection = "runs", .from = "", .to = ""}), ElementsAre("b"));
  {
    const std::lock_guard lock(mutex_);
    ASSERT_THAT(notices_, SizeIs(1));
    EXPECT_THAT(notices_[0].what, HasSubstr("\"a\""));
  }
  EXPECT_THAT(check(), SizeIs(1));
}

TEST_F(SqliteDamage, AWrongNumberOfThreadsIsFoundAndTheyAreCountedAgain) {
  thread_of({});
  thread_of({});
  damage("UPDATE totals SET threads = 7");
  const auto total = [&] {
    ListQuery query;
    query.with_total = true;
    return must(store_->list(query)).total;
  };
  EXPECT_EQ(total(), 7U);
  const auto findings = check();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].what, HasSubstr("2 threads"));
  EXPECT_TRUE(check(true).at(0).repaired);
  EXPECT_THAT(check(), SizeIs(0));
  EXPECT_EQ(total(), 2U);
}

TEST_F(SqliteDamage, ADamagedIndexIsFoundAndBuiltAnew) {
  const ThreadId id = thread_of({message("one"), message("two")});
  // The row is changed and changed back, the second time while the index is out of sight.
  damage("UPDATE events SET lag = lag + 1");
  change(
      "PRAGMA writable_schema = ON; CREATE TABLE hidden AS SELECT * FROM sqlite_schema"
      " WHERE name = 'events_by_thread';"
      "DELETE FROM sqlite_schema WHERE name = 'events_by_thread'");
  damage(
      "UPDATE events SET lag = lag - 1; PRAGMA writable_schema = ON;"
      "INSERT INTO sqlite_schema SELECT * FROM hidden; DROP TABLE hidden");
  reopen();
  EXPECT_THAT(check(), testing::Not(SizeIs(0)));
  EXPECT_EQ(summary_.health, Health::kBroken);
  for (const Finding& finding : check(true)) EXPECT_TRUE(finding.repaired) << finding.what;
  EXPECT_EQ(summary_.health, Health::kHealthy);
  EXPECT_THAT(check(), SizeIs(0));
  EXPECT_THAT(texts(read_all(*store_, id)), ElementsAre("one", "two"));
}

TEST_F(SqliteDamage, WhatTheIndicesOfThreadsMissIsFound) {
  const ThreadId id = thread_of({});
  must(store_->update(id, patch(R"({"metadata":{"a":1}})"), {}));
  for (const char* sql :
       {"DELETE FROM listed", "DELETE FROM thread_meta", "DELETE FROM changes WHERE kind = 2",
        "UPDATE threads SET status = 2", "UPDATE threads SET alias = 'x'"}) {
    SCOPED_TRACE(sql);
    const std::size_t before = check().size();
    damage(sql);
    EXPECT_GT(check().size(), before);
  }
}

TEST_F(SqliteDamage, ManyMayAskTheStoreAboutWhatTheyAreToldAtTheSameTime) {
  constexpr int kCheckers = 12;
  const ThreadId id = thread_of({message("one")});
  damage("UPDATE manifests SET crc = crc + 1");
  std::barrier all_told(kCheckers);
  std::atomic<int> told{0};
  std::vector<std::jthread> checkers;
  for (int i = 0; i < kCheckers; ++i) {
    checkers.emplace_back([&] {
      must(store_->check({}, [&](const Finding&) {
        all_told.arrive_and_wait();
        if (fails(store_->get(id), ErrorCode::kDamaged)) ++told;
      }));
    });
  }
  checkers.clear();
  EXPECT_EQ(told, kCheckers);
}

TEST_F(SqliteDamage, AnIndexThatMissesARowIsDamageAndNotAnInputOutputError) {
  const ThreadId id = thread_of({with_key(message("one"), "k")});
  change(
      "PRAGMA writable_schema = ON; CREATE TABLE hidden AS SELECT * FROM sqlite_schema"
      " WHERE name = 'events_by_key';"
      "DELETE FROM sqlite_schema WHERE name = 'events_by_key'");
  damage(
      "UPDATE events SET key_hash = key_hash + 1; PRAGMA writable_schema = ON;"
      "INSERT INTO sqlite_schema SELECT * FROM hidden; DROP TABLE hidden");
  reopen();
  EXPECT_TRUE(fails(store_->remove(id), ErrorCode::kDamaged));
}

}  // namespace
}  // namespace skein::test
