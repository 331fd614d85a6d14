// What a store remembers of small collections is what is in the file, whoever wrote it.
#include "store/sqlite/known_records.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "core/file.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SqliteKnownRecords : public testing::Test {
 protected:
  struct Range {
    std::string from{};
    std::string to{};
    Direction direction = Direction::kForward;
    std::size_t limit = 100;
  };
  std::unique_ptr<Store> open() const {
    return must(open_store("sqlite:" + (folder_.path() / "x.db").string()));
  }
  static Version put(Store& store, std::string key, std::optional<std::string> bytes) {
    const RecordWrite write{"things", std::move(key), std::move(bytes), std::nullopt, std::nullopt};
    return must(store.write(std::span(&write, 1))).front();
  }
  static std::vector<Record> scan(Store& store, const Range& range) {
    ScanRange wanted;
    wanted.collection = "things";
    wanted.from = range.from;
    wanted.to = range.to;
    wanted.direction = range.direction;
    wanted.limit = range.limit;
    return must(store.scan(wanted));
  }
  static std::vector<Record> scan(Store& store) { return scan(store, Range{}); }
  static std::vector<std::string> keys(Store& store, const Range& range) {
    std::vector<std::string> found;
    for (const Record& record : scan(store, range)) found.push_back(record.key);
    return found;
  }
  static std::vector<std::string> keys(Store& store) { return keys(store, Range{}); }
  static std::vector<std::string> values(Store& store) {
    std::vector<std::string> found;
    for (const Record& record : scan(store)) found.push_back(record.bytes);
    return found;
  }

  TempDir folder_;
  std::unique_ptr<Store> mine_ = open();
  std::unique_ptr<Store> others_ = open();
};

TEST_F(SqliteKnownRecords, AreAsAnotherProcessLeftThem) {
  EXPECT_THAT(values(*mine_), IsEmpty());
  put(*mine_, "a", "1");
  EXPECT_THAT(values(*mine_), ElementsAre("1"));
  EXPECT_THAT(values(*others_), ElementsAre("1"));
  for (int i = 0; i < 3; ++i) {
    put(*others_, "a", "theirs " + std::to_string(i));
    EXPECT_THAT(values(*mine_), ElementsAre("theirs " + std::to_string(i)));
    put(*mine_, "a", "mine " + std::to_string(i));
    EXPECT_THAT(values(*others_), ElementsAre("mine " + std::to_string(i)));
  }
  put(*others_, "a", std::nullopt);
  EXPECT_THAT(values(*mine_), IsEmpty());
}

TEST_F(SqliteKnownRecords, AreScannedAsFromTheFile) {
  for (const char* key : {"b", "a", "c/1", "c/2", "d"}) put(*mine_, key, key);
  for (int round = 0; round < 2; ++round) {  // the second time from memory
    EXPECT_THAT(keys(*mine_), ElementsAre("a", "b", "c/1", "c/2", "d"));
    EXPECT_THAT(keys(*mine_, {.from = "c/", .to = "c0"}), ElementsAre("c/1", "c/2"));
    EXPECT_THAT(keys(*mine_, {.from = "b", .to = "b"}), IsEmpty());
    EXPECT_THAT(keys(*mine_, {.from = "x"}), IsEmpty());
    EXPECT_THAT(keys(*mine_, {.to = "b"}), ElementsAre("a"));
    EXPECT_THAT(keys(*mine_, {.direction = Direction::kBackward, .limit = 2}),
                ElementsAre("d", "c/2"));
    EXPECT_THAT(
        keys(*mine_, {.from = "b", .to = "d", .direction = Direction::kBackward, .limit = 9}),
        ElementsAre("c/2", "c/1", "b"));
    EXPECT_THAT(keys(*mine_, {.limit = 1}), ElementsAre("a"));
  }
}

TEST_F(SqliteKnownRecords, HaveTheVersionsThatWritesExpect) {
  const Version first = put(*mine_, "a", "1");
  EXPECT_EQ(scan(*mine_).front().version, first);
  const RecordWrite wrong{"things", "a", "2", first + 1, std::nullopt};
  EXPECT_FALSE(mine_->write(std::span(&wrong, 1)));
  EXPECT_THAT(values(*mine_), ElementsAre("1"));
  const RecordWrite right{"things", "a", "2", first, std::nullopt};
  const Version second = must(mine_->write(std::span(&right, 1))).front();
  EXPECT_EQ(scan(*mine_).front().version, second);
}

TEST_F(SqliteKnownRecords, AreAllThereWhenTheyHaveBecomeMany) {
  EXPECT_THAT(keys(*mine_), IsEmpty());
  std::vector<std::string> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(std::to_string(1000 + i));
    put(*mine_, all.back(), "x");
    EXPECT_EQ(keys(*mine_, {.limit = 1000}).size(), all.size());
  }
  for (const std::string& key : all) put(*mine_, key, std::nullopt);
  EXPECT_THAT(keys(*mine_), IsEmpty());
}

TEST_F(SqliteKnownRecords, AreNotLearnedWhileACommitMayHaveChangedThem) {
  // Another process wrote; this one begins to commit; then a reader forgets what was known.
  const Fd file = must(open_file((folder_.path() / "number").string(), O_RDWR | O_CREAT));
  sqlite::SharedNumber number(file.get());
  sqlite::KnownThreads threads(number);
  sqlite::KnownRecords known(threads);
  const auto before = known.wants("things");
  ASSERT_TRUE(before);
  ASSERT_TRUE(number.write(2));
  must(threads.begin());
  std::vector<sqlite::RecordChange> changes;
  changes.push_back({.collection = "things", .key = "a", .bytes = "2", .version = 2});
  known.doubt(changes);
  EXPECT_FALSE(known.wants("things"));
  EXPECT_TRUE(known.wants("others"));
  known.apply(changes);
  threads.end();
  EXPECT_TRUE(known.wants("things"));
}

TEST_F(SqliteKnownRecords, AreNeverOlderThanWhatWasWritten) {
  // One writes, and reads what it wrote; others read all the time, and fill the memory.
  std::atomic<bool> over{false};
  std::vector<std::jthread> readers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::map<std::string, int> latest;
      while (!over) {
        for (const Record& record : scan(*mine_)) {
          int& known = latest[record.key];
          const int now = std::stoi(record.bytes);
          if (now < known) ++wrong;
          known = now;
        }
      }
    });
  }
  std::mt19937 random(1);
  for (int i = 1; i <= 400; ++i) {
    const std::string key(1, static_cast<char>('a' + random() % 5));
    // Another process makes this one forget, and learn again.
    put(i % 20 == 0 ? *others_ : *mine_, key, std::to_string(i));
    bool found = false;
    for (const Record& record : scan(*mine_)) {
      found = found || (record.key == key && record.bytes == std::to_string(i));
    }
    EXPECT_TRUE(found) << i;
  }
  over = true;
  readers.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace skein::test
