// Rows of a database that somebody else wrote: numbers that no store gives out keep nobody busy,
// are told by a check, and concern their thread alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/sqlite.h"
#include "skein/context.h"
#include "store/record_access.h"
#include "store/row_codec.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

class HostileRows : public testing::Test {
 protected:
  HostileRows() {
    id_ = create_thread(
              *store_, "agent",
              {message("1"), message("2"), message("3"), message("4"), message("5"), message("6")})
              .id;
    other_ = create_thread(*store_, "agent", {message("fine")}).id;
  }
  ~HostileRows() override { expect_others_are_fine(); }

  std::string path() const { return (folder_.path() / "x.db").string(); }
  std::unique_ptr<Store> open() const { return must(open_store("sqlite:" + path())); }
  // Changes the file, which the store then reads as if it had never written it. "ID" is the thread.
  void change(std::string sql) {
    store_.reset();
    for (auto at = sql.find("ID"); at != std::string::npos; at = sql.find("ID", at))
      sql.replace(at, 2, std::to_string(id_.bits()));
    must(must(Database::open(path(), 5000)).execute(sql.c_str()));
    store_ = open();
  }
  std::vector<std::string> check() {
    std::vector<std::string> found;
    must(store_->check({}, [&](const Finding& f) {
      EXPECT_TRUE(!f.thread || *f.thread == id_);
      found.push_back(f.what);
    }));
    return found;
  }
  void expect_others_are_fine() {
    if (!store_) return;
    EXPECT_THAT(texts(read_all(*store_, other_)), ElementsAre("fine"));
    EXPECT_THAT(list_all_ids(*store_, {}), Contains(other_));
  }
  // What a read delivers before it ends, and how it ends.
  std::pair<std::vector<Seq>, Result<void>> read(const ReadRange& range = {}) {
    std::vector<Seq> seqs;
    auto done = store_->read(id_, range, [&seqs](Event& event) {
      seqs.push_back(event.seq);
      return seqs.size() < 10'000;
    });
    return {seqs, done};
  }

  TempDir folder_;
  std::unique_ptr<Store> store_ = open();
  ThreadId id_;
  ThreadId other_;
};

TEST_F(HostileRows, BranchesThatNoEventHasEndEveryPathAndAreFound) {
  change("INSERT INTO branches VALUES(ID, 0, 5), (ID, -3, 2), (ID, 3, 7), (ID, 4, -1)");
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const ReadRange range{.direction = direction, .view = View::kPath};
    EXPECT_THAT(read(range).first, SizeIs(6));
  }
  EXPECT_THAT(check(), ElementsAre(HasSubstr("branches that no event can have")));
}

TEST_F(HostileRows, EventsWithASeqThatNoEventCanHaveDoNotCount) {
  for (const char* seq : {"-5", "0", "1152921504606846976", "9223372036854775807"}) {
    SCOPED_TRACE(seq);
    change(std::string("UPDATE events SET seq = ") + seq + " WHERE id = ID AND seq = 6");
    EXPECT_EQ(get_thread(*store_, id_).last_seq, 5U);
    EXPECT_THAT(read().first, ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(check(), testing::Contains(HasSubstr("a seq that no event can have")));
    EXPECT_EQ(must_append(*store_, id_, message("6")), 6U);
    EXPECT_THAT(texts(read_all(*store_, id_)), ElementsAre("1", "2", "3", "4", "5", "6"));
    change("DELETE FROM events WHERE id = ID AND seq NOT BETWEEN 1 AND 6");
  }
}

TEST_F(HostileRows, AGapThatNoLossExplainsEndsAReadAndAThread) {
  change("UPDATE events SET seq = 1000000000000 WHERE id = ID AND seq = 6");
  const auto [seqs, done] = read();
  EXPECT_THAT(seqs, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_TRUE(fails(done, ErrorCode::kDamaged, {id_.str(), "event 6", "wrong seq"}));
  const auto after = read({.from = 1'000'000'000'000});
  EXPECT_THAT(after.first, SizeIs(1));
  EXPECT_TRUE(ok(after.second));
  EXPECT_THAT(check(), ElementsAre(HasSubstr("wrong seq")));
  EXPECT_TRUE(fails(append_one(*store_, id_, message("lost")), ErrorCode::kDamaged, {id_.str()}));
}

TEST_F(HostileRows, AGapThatNoLossExplainsCanBeForkedBeforeAndRemoved) {
  change("UPDATE events SET seq = 1000000000000 WHERE id = ID AND seq = 6");
  NewThread fork;
  fork.agent_id = "agent";
  fork.from = Parent{id_, 5};
  EXPECT_THAT(read_all(*store_, must(store_->create(fork)).id), SizeIs(5));
  fork.from = Parent{id_, 900'000'000'000};
  EXPECT_TRUE(fails(store_->create(fork), ErrorCode::kDamaged));
  EXPECT_TRUE(must(store_->remove(id_)));
}

TEST_F(HostileRows, AContextOverSuchAGapIsAnError) {
  change("UPDATE events SET seq = 1000000000000 WHERE id = ID AND seq = 6");
  EXPECT_TRUE(fails(make_context(*store_, id_, {}), ErrorCode::kDamaged, {id_.str()}));
}

TEST_F(HostileRows, ALossOfManyEventsIsReadAround) {
  std::vector<Append> appends;
  for (int i = 0; i < 3000; ++i) appends.push_back({id_, message("more"), {}, {}});
  for (const auto& appended : store_->append(appends)) ASSERT_TRUE(ok(appended));
  change("DELETE FROM events WHERE id = ID AND seq BETWEEN 4 AND 2700");
  EXPECT_THAT(read_all(*store_, id_), SizeIs(3006));
  EXPECT_EQ(must_append(*store_, id_, message("on")), 3007U);
}

TEST_F(HostileRows, APlaceInTheFeedThatNothingCanFollowRefusesWrites) {
  for (const std::string table : {"events", "changes"}) {
    const std::string sql = "SELECT max(g) FROM " + table;
    const auto last = must(must(Database::open(path(), 5000)).integer(sql.c_str()));
    change("UPDATE " + table + " SET g = 9223372036854775807 WHERE g = " + std::to_string(last));
    EXPECT_TRUE(fails(append_one(*store_, other_, message("lost")), ErrorCode::kDamaged,
                      {"change feed", path()}));
    change("UPDATE " + table + " SET g = " + std::to_string(last) + " WHERE g > 1000");
  }
}

TEST_F(HostileRows, RecordsOutOfOrderEndAScan) {
  const auto key = [](int number) { return "t-" + std::to_string(10'000 + number) + "-x"; };
  std::vector<RecordWrite> writes;
  for (int i = 0; i < 2500; ++i) {
    writes.push_back(record("runs", key(i), "{}"));
    if (writes.size() == 500) must(store_->write(std::exchange(writes, {})));
  }
  const std::string wrong = "t-!0999-x";
  const auto stored = scan_all(*store_, "runs");
  change("UPDATE records SET crc = " +
         std::to_string(record_crc("runs", wrong, stored.at(999).version, "{}")) +
         " WHERE key = '" + key(999) + "'; PRAGMA journal_mode = DELETE");
  store_.reset();
  std::stringstream text;
  text << std::ifstream(path(), std::ios::binary).rdbuf();
  std::string bytes = text.str();
  for (auto at = bytes.find(key(999)); at != std::string::npos; at = bytes.find(key(999), at))
    bytes.replace(at, wrong.size(), wrong);
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  store_ = open();
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    std::size_t seen = 0;
    const auto count = [&seen](const Record&) { return ++seen < 10'000; };
    must(scan_prefix(*store_, "runs", "t-", count, direction));
    EXPECT_GE(seen, 1500U);
    EXPECT_LE(seen, 2500U);
  }
}

TEST_F(HostileRows, TimesThatManifestsDoNotConfirmKeepNoListGoingRound) {
  change("UPDATE threads SET created = created - 60000000");
  ListQuery query;
  query.order = ListOrder::kCreatedNewestFirst;
  query.limit = 1;
  std::vector<ThreadId> seen;
  do {
    const ThreadPage page = must(store_->list(query));
    for (const Manifest& thread : page.threads) seen.push_back(thread.id);
    query.after = page.next;
  } while (!query.after.empty() && seen.size() < 10);
  EXPECT_THAT(seen, testing::UnorderedElementsAre(id_, other_));
}

}  // namespace
}  // namespace skein::test
