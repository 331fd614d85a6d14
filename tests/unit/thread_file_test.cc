#include "api/transfer/thread_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "api/transfer/import.h"
#include "store/line.h"
#include "support/temp_dir.h"

namespace skein {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHead =
    R"({"agentId":"a","createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-02T00:00:00Z"})";

Event message(const std::string& text) {
  Event event;
  event.timestamp = Timestamp::from_ms(1'700'000'000'000);
  event.payload = Message{Role::kUser, text};
  return event;
}

std::string our_line(const Event& event, Seq seq) {
  std::string line;
  append_event_line(line, event, seq);
  return line;
}

class ThreadFiles : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& content) {
    const auto path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  // All events of the file's threads; the manifests go to `manifests_`, what is wrong to
  // `problems_`.
  std::vector<Event> read(const std::filesystem::path& path) {
    auto file = ThreadFile::open(path, [&](const FileProblem& problem) {
      problems_.push_back(std::to_string(problem.line) + ": " + problem.message);
    });
    EXPECT_TRUE(file.has_value());
    std::vector<Event> events;
    Manifest manifest;
    Event event;
    while ((*file)->next_thread(manifest).value()) {
      manifests_.push_back(manifest);
      while ((*file)->next_event(event).value()) events.push_back(event);
    }
    return events;
  }

  test::TempDir folder_;
  std::vector<Manifest> manifests_;
  std::vector<std::string> problems_;
};

TEST_F(ThreadFiles, EventsWithoutATimeGetThatOfTheOneBefore) {
  const auto events = read(write("a1b2c3d4e5f6.jsonl", std::string(kHead) + R"(
{"role":"user","text":"1"}
{"role":"user","text":"2","timestamp":"2025-01-01T10:00:00Z"}
{"role":"user","text":"3","timestamp":"half past nine"}
)"));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].timestamp.str(), "2025-01-01T00:00:00.000Z");
  EXPECT_EQ(events[2].timestamp.str(), "2025-01-01T10:00:00.000Z");
  EXPECT_EQ(events[2].extra.text(), R"({"imported_timestamp":"half past nine"})");
  EXPECT_TRUE(problems_.empty());
}

TEST_F(ThreadFiles, FieldsThatMeanSomethingElseToUsAreRenamed) {
  const auto events = read(write("a1b2c3d4e5f6.jsonl", std::string(kHead) + R"(
{"role":"user","text":"1","seq":9,"key":"k","crc":"x","base":0,"tokenCount":3,"other":1}
)"));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].key, "");
  EXPECT_FALSE(events[0].base.has_value());
  EXPECT_EQ(
      events[0].extra.text(),
      R"({"imported_seq":9,"imported_key":"k","imported_crc":"x","imported_base":0,"imported_tokenCount":3,"other":1})");
}

TEST_F(ThreadFiles, OurOwnLinesKeepKeyAndBaseAndCountPastDamage) {
  Event first = message("1");
  first.key = "k";
  Event fourth = message("4");
  fourth.base = 3;
  std::string damaged = our_line(message("2"), 2);
  damaged[damaged.find("\"2\"") + 1] = '7';
  const auto events =
      read(write("a1b2c3d4e5f6.jsonl", std::string(kHead) + "\n" + our_line(first, 1) + damaged +
                                           our_line(message("3"), 3) + our_line(fourth, 4)));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].key, "k");
  EXPECT_EQ(events[2].base, 2u);  // what was 3 is 2 now
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("3: does not match its checksum")));
}

TEST_F(ThreadFiles, ASequenceHoldsSeveralThreads) {
  const std::string head = std::string(kHead).substr(1);
  const auto events = read(write(
      "all.jsonl", R"({"threadId":"a1b2c3d4e5f6",)" + head + "\n" + our_line(message("1"), 1) +
                       R"({"threadId":"b1b2c3d4e5f6",)" + head + "\n" +
                       R"({"threadId":"c1b2c3d4e5f6",)" + head + "\n" + our_line(message("2"), 1)));
  EXPECT_EQ(events.size(), 2u);
  ASSERT_EQ(manifests_.size(), 3u);
  EXPECT_EQ(manifests_[2].id.str(), "c1b2c3d4e5f6");
  EXPECT_TRUE(manifests_[2].extra.empty());
}

TEST_F(ThreadFiles, AFileThatSaysNoIdIsRefused) {
  auto file =
      ThreadFile::open(write("notes.jsonl", std::string(kHead) + "\n"), [](const FileProblem&) {});
  Manifest manifest;
  const auto read = (*file)->next_thread(manifest);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kDamaged);
  EXPECT_THAT(read.error().message, HasSubstr("notes.jsonl:1: "));
}

TEST_F(ThreadFiles, ImportAdjustsPinsToTheLinesThatCouldBeRead) {
  const std::string head = std::string(kHead).substr(1);
  const auto path = write("a1b2c3d4e5f6.jsonl", R"({"pins":[1,2,3],)" + head + R"(
garbage
{"role":"user","text":"2"}
{"role":"user","text":"3"}
)");
  auto store = open_store("memory:");
  ASSERT_TRUE(store.has_value());
  const auto summary = import_threads(**store, {path}, ImportOptions{});
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->unreadable, 1u);
  const auto manifest = (*store)->get(ThreadId::parse("a1b2c3d4e5f6").value());
  EXPECT_THAT((*manifest)->pins, ElementsAre(1u, 2u));
}

}  // namespace
}  // namespace skein
