#include <algorithm>

#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Records);

RecordWrite expecting(RecordWrite write, Version version) {
  write.expect_version = version;
  return write;
}

Version put(Store& store, RecordWrite write) {
  return must(store.write(std::span(&write, 1))).at(0);
}

Result<std::vector<Version>> try_put(Store& store, RecordWrite write) {
  return store.write(std::span(&write, 1));
}

ScanRange keys_from(std::string_view from, std::string_view to = "",
                    Direction direction = Direction::kForward, std::size_t limit = 100) {
  ScanRange range;
  range.collection = "c";
  range.from = from;
  range.to = to;
  range.direction = direction;
  range.limit = limit;
  return range;
}

TEST_P(Records, AreKeptWithTheirBytesAndAVersion) {
  const Version version = put(store(), record("runs", "a", "bytes"));
  EXPECT_NE(version, 0U);
  backend_.reopen();
  const std::vector<Record> found = scan_all(store(), "runs");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].key, "a");
  EXPECT_EQ(found[0].bytes, "bytes");
  EXPECT_EQ(found[0].version, version);
}

TEST_P(Records, AreReplacedWholeWithAHigherVersion) {
  const Version first = put(store(), record("runs", "a", "a longer one"));
  const Version second = put(store(), record("runs", "a", "short"));
  EXPECT_GT(second, first);
  const Version same = put(store(), record("runs", "a", "short"));
  EXPECT_GT(same, second) << "a write is a change, whatever it writes";
  backend_.reopen();
  const std::vector<Record> found = scan_all(store(), "runs");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bytes, "short");
  EXPECT_EQ(found[0].version, same);
}

TEST_P(Records, HoldEveryByteAndNone) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  bytes += bytes;
  put(store(), record("c", "all", bytes));
  put(store(), record("c", "none", ""));
  put(store(), record("c", "newlines", "\r\n\n\r"));
  put(store(), record("c", "json", R"({"a":"\ud800"})"));
  backend_.reopen();
  const std::vector<Record> found = scan_all(store(), "c");
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(found[0].bytes, bytes);
  EXPECT_EQ(found[1].bytes, R"({"a":"\ud800"})");
  EXPECT_EQ(found[2].bytes, "\r\n\n\r");
  EXPECT_EQ(found[3].bytes, "");
}

TEST_P(Records, CanBeDeletedAndDeletingNothingIsNoError) {
  put(store(), record("c", "a", "1"));
  EXPECT_EQ(put(store(), deletion("c", "a")), 0U);
  EXPECT_EQ(put(store(), deletion("c", "a")), 0U);
  EXPECT_EQ(put(store(), deletion("never", "was")), 0U);
  backend_.reopen();
  EXPECT_THAT(scan_all(store(), "c"), IsEmpty());
}

TEST_P(Records, NeverUseAVersionTwiceNotEvenAfterDeletion) {
  const Version first = put(store(), record("c", "a", "1"));
  put(store(), deletion("c", "a"));
  backend_.reopen();
  const Version second = put(store(), record("c", "a", "1"));
  EXPECT_GT(second, first);
  EXPECT_TRUE(
      fails(try_put(store(), expecting(record("c", "a", "2"), first)), ErrorCode::kConflict));
}

TEST_P(Records, ConflictWithAnotherVersionThanExpected) {
  const Version first = put(store(), expecting(record("c", "a", "1"), 0));
  EXPECT_TRUE(
      fails(try_put(store(), expecting(record("c", "a", "2"), 0)), ErrorCode::kConflict, {"a"}));
  const Version second = put(store(), expecting(record("c", "a", "2"), first));
  EXPECT_TRUE(
      fails(try_put(store(), expecting(record("c", "a", "3"), first)), ErrorCode::kConflict));
  EXPECT_TRUE(fails(try_put(store(), expecting(deletion("c", "a"), first)), ErrorCode::kConflict));
  EXPECT_TRUE(
      fails(try_put(store(), expecting(record("c", "absent", "1"), first)), ErrorCode::kConflict));
  EXPECT_EQ(scan_all(store(), "c").at(0).bytes, "2");
  EXPECT_EQ(put(store(), expecting(deletion("c", "a"), second)), 0U);
  EXPECT_TRUE(ok(try_put(store(), expecting(record("c", "a", "4"), 0))));
}

TEST_P(Records, AreWrittenAllOrNone) {
  put(store(), record("c", "old", "kept"));
  const std::vector<std::string> feed = whole_feed();
  const std::vector<RecordWrite> batch{record("c", "new", "1"), deletion("c", "old"),
                                       record("other", "x", "1"),
                                       expecting(record("c", "last", "1"), 99)};
  EXPECT_TRUE(fails(store().write(batch), ErrorCode::kConflict));
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(scan_keys(store(), keys_from("")), ElementsAre("old"));
    EXPECT_THAT(scan_all(store(), "other"), IsEmpty());
    EXPECT_EQ(whole_feed(), feed);
    backend_.reopen();
  }
  std::vector<RecordWrite> good(batch.begin(), batch.end() - 1);
  const std::vector<Version> versions = must(store().write(good));
  ASSERT_THAT(versions, SizeIs(3));
  EXPECT_NE(versions[0], 0U);
  EXPECT_EQ(versions[1], 0U);
  backend_.reopen();
  EXPECT_THAT(scan_keys(store(), keys_from("")), ElementsAre("new"));
  EXPECT_EQ(scan_all(store(), "other").at(0).version, versions[2]);
}

TEST_P(Records, WritingNothingIsNoError) { EXPECT_THAT(must(store().write({})), IsEmpty()); }

TEST_P(Records, AreScannedByRangeInBothDirections) {
  for (const std::string_view key : {"b", "a", "ab", "c", "B", "ba", "\xc3\xa4"}) {
    put(store(), record("c", key, key));
  }
  put(store(), record("d", "other collection", ""));
  backend_.reopen();
  EXPECT_THAT(scan_keys(store(), keys_from("")),
              ElementsAre("B", "a", "ab", "b", "ba", "c", "\xc3\xa4"));
  EXPECT_THAT(scan_keys(store(), keys_from("a", "b")), ElementsAre("a", "ab"));
  EXPECT_THAT(scan_keys(store(), keys_from("aa", "c")), ElementsAre("ab", "b", "ba"));
  EXPECT_THAT(scan_keys(store(), keys_from("b", "b")), IsEmpty());
  EXPECT_THAT(scan_keys(store(), keys_from("c", "a")), IsEmpty());
  EXPECT_THAT(scan_keys(store(), keys_from("d")), ElementsAre("\xc3\xa4"));
  EXPECT_THAT(scan_keys(store(), keys_from("", "", Direction::kForward, 2)), ElementsAre("B", "a"));
  EXPECT_THAT(scan_keys(store(), keys_from("a", "c", Direction::kBackward)),
              ElementsAre("ba", "b", "ab", "a"));
  EXPECT_THAT(scan_keys(store(), keys_from("", "", Direction::kBackward, 2)),
              ElementsAre("\xc3\xa4", "c"));
}

TEST_P(Records, CanBePagedInBothDirections) {
  std::vector<RecordWrite> batch;
  std::vector<std::string> keys;
  for (int i = 100; i < 350; ++i) {
    keys.push_back("k" + std::to_string(i));
    batch.push_back(record("c", keys.back(), "v"));
  }
  must(store().write(batch));
  std::vector<std::string> seen;
  for (std::string from;;) {
    const std::vector<std::string> page =
        scan_keys(store(), keys_from(from, "", Direction::kForward, 60));
    if (page.empty()) break;
    seen.insert(seen.end(), page.begin(), page.end());
    from = seen.back() + '\0';
  }
  EXPECT_EQ(seen, keys);
  seen.clear();
  for (std::string to;;) {
    const std::vector<std::string> page =
        scan_keys(store(), keys_from("", to, Direction::kBackward, 60));
    if (page.empty()) break;
    seen.insert(seen.end(), page.begin(), page.end());
    to = seen.back();
  }
  std::reverse(keys.begin(), keys.end());
  EXPECT_EQ(seen, keys);
}

TEST_P(Records, TakeHostileKeysLiterally) {
  const std::vector<std::string> keys{"'",
                                      "\"",
                                      "%",
                                      "_",
                                      "\\",
                                      "../../etc/passwd",
                                      "a/b",
                                      "a b",
                                      "; DROP TABLE records",
                                      "{\"a\":1}",
                                      "\xf0\x9f\xa7\xb6",
                                      ".",
                                      "..",
                                      "null",
                                      "0",
                                      std::string(512, 'k')};
  for (const std::string& key : keys) put(store(), record("c", key, key));
  backend_.reopen();
  EXPECT_THAT(scan_all(store(), "c"), SizeIs(keys.size()));
  for (const std::string& key : keys) {
    const std::vector<Record> found = must(store().scan(keys_from(key, key + '\0')));
    ASSERT_THAT(found, SizeIs(1)) << key;
    EXPECT_EQ(found[0].bytes, key);
  }
}

TEST_P(Records, RefuseNamesThatBreakTheRules) {
  using namespace std::string_literals;
  for (const std::string& collection : {""s, "A"s, "1a"s, "_a"s, "a-b"s, "a b"s, "a.b"s, "a/b"s,
                                        "ä"s, "a'"s, "a\0"s, std::string(65, 'a')}) {
    EXPECT_TRUE(fails(try_put(store(), record(collection, "k", "v")), ErrorCode::kInvalid))
        << collection;
    ScanRange range;
    range.collection = collection;
    EXPECT_TRUE(fails(store().scan(range), ErrorCode::kInvalid)) << collection;
  }
  for (const std::string& key :
       {""s, "a\nb"s, "a\0b"s, "\x7f"s, "\t"s, "\xff"s, "\xed\xa0\x80"s, std::string(513, 'k')}) {
    EXPECT_TRUE(fails(try_put(store(), record("c", key, "v")), ErrorCode::kInvalid)) << key;
  }
  EXPECT_THAT(scan_all(store(), "c"), IsEmpty());
  EXPECT_TRUE(ok(try_put(store(), record("a" + std::string(63, '_'), "k", "v"))));
}

TEST_P(Records, RefuseWhatExceedsTheLimits) {
  EXPECT_TRUE(
      fails(try_put(store(), record("c", "k", std::string(limits::kMaxRecordBytes + 1, 'b'))),
            ErrorCode::kInvalid, {std::to_string(limits::kMaxRecordBytes)}));
  std::vector<RecordWrite> batch;
  for (std::size_t i = 0; i <= limits::kMaxBatch; ++i) {
    batch.push_back(record("c", std::to_string(i), ""));
  }
  EXPECT_TRUE(
      fails(store().write(batch), ErrorCode::kInvalid, {std::to_string(limits::kMaxBatch)}));
  EXPECT_THAT(scan_all(store(), "c"), IsEmpty());
  EXPECT_TRUE(fails(store().scan(keys_from("", "", Direction::kForward, 0)), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(store().scan(keys_from("", "", Direction::kForward, limits::kMaxPageSize + 1)),
                    ErrorCode::kInvalid, {std::to_string(limits::kMaxPageSize)}));
}

TEST_P(Records, HoldLargeValues) {
  const std::string large(limits::kMaxRecordBytes, '\xfe');
  put(store(), record("c", "large", large));
  backend_.reopen();
  EXPECT_TRUE(scan_all(store(), "c").at(0).bytes == large);
}

TEST_P(Records, OfAnUnknownCollectionAreNone) {
  EXPECT_THAT(scan_all(store(), "empty"), IsEmpty());
}

}  // namespace
}  // namespace skein::test
