// usage.jsonl: the usage collection, shared with other programs.
#include "unit/jsonl_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kTheirs =
    R"({"timestamp":"2025-01-01T00:00:00Z","agentId":"a","threadId":"0123456789ab","costUsd":0.1})";
constexpr std::string_view kOurs = R"({"timestamp":"2026-01-01T00:00:00Z","agentId":"a"})";

class UsageLines : public JsonlFolder {
 protected:
  static std::vector<std::string> usage(Store& store) {
    std::vector<std::string> bytes;
    for (const Record& record : scan_all(store, "usage")) bytes.push_back(record.bytes);
    return bytes;
  }
};

TEST_F(UsageLines, ARecordIsALineThatOtherProgramsCanRead) {
  const auto store = open();
  must(store->write(std::vector{record("usage", "run-1", kOurs)}));
  const std::string bytes = bytes_of(path("usage.jsonl"));
  EXPECT_TRUE(
      bytes.starts_with(R"({"timestamp":"2026-01-01T00:00:00Z","agentId":"a","key":"run-1")"));
  EXPECT_TRUE(bytes.ends_with("}\n"));
  EXPECT_TRUE(Json::parse_object(bytes.substr(0, bytes.size() - 1)).has_value());
  EXPECT_THAT(usage(*store), ElementsAre(kOurs));
}

TEST_F(UsageLines, LinesOfOtherProgramsAreRecords) {
  write_bytes(path("usage.jsonl"), std::string(kTheirs) + "\n\n" + std::string(kTheirs));
  const auto store = open();
  EXPECT_THAT(usage(*store), ElementsAre(kTheirs, kTheirs));
  must(store->write(std::vector{record("usage", "run-1", kOurs)}));
  EXPECT_THAT(usage(*store), ElementsAre(kTheirs, kTheirs, kOurs));
  add_bytes(path("usage.jsonl"), std::string(kTheirs) + "\n");
  EXPECT_THAT(usage(*store), SizeIs(4));
  EXPECT_TRUE(bytes_of(path("usage.jsonl"))
                  .starts_with(std::string(kTheirs) + "\n\n" + std::string(kTheirs) + "\n{"));
}

TEST_F(UsageLines, AnyBytesComeBackAsTheyWere) {
  const std::vector<std::string> all = {"{}",
                                        R"({ "a" : 1 })",
                                        R"({"text":"x"})",
                                        R"({"base64":"eA=="})",
                                        "plain text",
                                        std::string("\xff\0z", 3),
                                        "{\n\"a\":1\n}",
                                        "",
                                        R"({"key":1})",
                                        R"({"rev":3,"crc":"12345678"})"};
  std::vector<RecordWrite> writes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    writes.push_back(record("usage", "k" + std::to_string(i), all[i]));
    writes.push_back(record("runs", "k" + std::to_string(i), all[i]));
  }
  {
    const auto store = open();
    must(store->write(writes));
    EXPECT_EQ(usage(*store), all);
  }
  const auto store = open();
  EXPECT_EQ(usage(*store), all);
  std::vector<std::string> runs;
  for (const Record& record : scan_all(*store, "runs")) runs.push_back(record.bytes);
  EXPECT_EQ(runs, all);
}

TEST_F(UsageLines, ReplacingAndDeletingLeaveTheOtherLinesWhereTheyAre) {
  write_bytes(path("usage.jsonl"), std::string(kTheirs) + "\n");
  const auto store = open();
  const auto other = open();
  must(store->write(std::vector{record("usage", "a", R"({"n":1})"), record("usage", "b", kOurs)}));
  EXPECT_THAT(usage(*other), SizeIs(3));
  must(store->write(std::vector{record("usage", "a", R"({"n":2})")}));
  must(store->write(std::vector{deletion("usage", "b")}));
  EXPECT_THAT(usage(*store), ElementsAre(R"({"n":2})", kTheirs));
  EXPECT_THAT(usage(*other), ElementsAre(R"({"n":2})", kTheirs));
  EXPECT_TRUE(bytes_of(path("usage.jsonl")).starts_with(std::string(kTheirs) + "\n   "));
  const auto fresh = open();
  EXPECT_THAT(usage(*fresh), ElementsAre(R"({"n":2})", kTheirs));
}

TEST_F(UsageLines, ABatchWhoseUsagePartWasNotWrittenIsCompleted) {
  {
    const auto store = open();
    must(store->write(std::vector{record("usage", "gone", R"({"n":0})")}));
    must(store->write(std::vector{record("usage", "a", kOurs), record("runs", "r", "1"),
                                  deletion("usage", "gone")}));
  }
  // As a crash between journal and usage.jsonl leaves it.
  const std::string bytes = bytes_of(path("usage.jsonl"));
  write_bytes(path("usage.jsonl"), R"({"n":9})"
                                   "\n");
  const auto store = open();
  EXPECT_THAT(usage(*store), ElementsAre(kOurs, R"({"n":9})"));
  EXPECT_THAT(scan_all(*store, "runs"), SizeIs(1));
}

TEST_F(UsageLines, ABatchThatWasTornIsNotThereAtAll) {
  {
    const auto store = open();
    must(store->write(std::vector{record("runs", "a", "1")}));
    must(store->write(std::vector{record("runs", "b", "2"), record("usage", "u", kOurs)}));
  }
  const auto journal = path(".skein/records.jsonl");
  std::filesystem::resize_file(journal, bytes_of(journal).size() - 3);
  std::filesystem::remove(path("usage.jsonl"));
  const auto store = open();
  EXPECT_THAT(scan_all(*store, "runs"), SizeIs(1));
  EXPECT_THAT(usage(*store), IsEmpty());
  must(store->write(std::vector{record("runs", "c", "3")}));
  EXPECT_THAT(scan_all(*store, "runs"), SizeIs(2));
  EXPECT_THAT(notices_, testing::Contains(HasSubstr("torn last line")));
}

TEST_F(UsageLines, TheJournalIsCompactedAndKeepsWhatIsCurrent) {
  const auto store = open();
  const auto other = open();
  must(store->write(std::vector{record("runs", "kept", "k"), record("runs", "dead", "d")}));
  must(store->write(std::vector{deletion("runs", "dead")}));
  const ThreadId removed = create_thread(*store, "agent").id;
  must(store->remove(removed));
  const std::string large(300'000, 'x');
  Version last = 0;
  for (int i = 0; i < 30; ++i) {
    last = must(store->write(std::vector{record("runs", "large", large + std::to_string(i))}))[0];
  }
  EXPECT_LT(bytes_of(path(".skein/records.jsonl")).size(), std::size_t{5} << 20);
  for (Store* reader : {store.get(), other.get()}) {
    const std::vector<Record> runs = scan_all(*reader, "runs");
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_EQ(runs[0].bytes, "k");
    EXPECT_EQ(runs[1].bytes, large + "29");
    EXPECT_EQ(runs[1].version, last);
  }
  EXPECT_GT(must(other->write(std::vector{record("runs", "next", "n")}))[0], last);
}

}  // namespace
}  // namespace skein::test
