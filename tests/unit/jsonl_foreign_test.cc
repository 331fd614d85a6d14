// Files that other programs wrote.
#include <algorithm>
#include <functional>
#include <utility>

#include "unit/jsonl_fixture.h"

namespace skein::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kForeignManifest =
    R"({"agentId":"agent","channel":"telegram","title":"Old","createdAt":"2025-01-01T00:00:00.000Z",)"
    R"("updatedAt":"2025-01-02T00:00:00.000Z","mood":"blue"})";
constexpr std::string_view kLegacyLine =
    R"({"role":"user","text":"hello","timestamp":"2025-01-03T00:00:00.000Z"})";
constexpr std::string_view kForeignLine =
    R"({"type":"message","role":"assistant","text":"hi","timestamp":"2025-01-04T00:00:00.000Z",)"
    R"("seq":77,"colour":{"r":1}})";
constexpr std::string_view kTornLine = R"({"type":"message","role":"user","te)";

class ForeignFiles : public JsonlFolder {
 protected:
  void write_foreign(std::string_view events) {
    write_bytes(thread_path(id()), std::string(kForeignManifest) + "\n" + std::string(events));
  }
};

TEST_F(ForeignFiles, LegacyLinesUnknownFieldsCrlfAndATornLineAreReadReportedAndRepaired) {
  const std::string whole = std::string(kForeignManifest) + "\r\n" + std::string(kLegacyLine) +
                            "\r\n\r\n" + std::string(kForeignLine) + "\n";
  write_bytes(thread_path(id()), whole + std::string(kTornLine));
  const auto store = open();

  const Manifest manifest = get_thread(*store, id());
  EXPECT_EQ(manifest.title, "Old");
  EXPECT_EQ(manifest.last_seq, 2U);
  EXPECT_EQ(manifest.updated_at.str(), "2025-01-04T00:00:00.000Z");
  EXPECT_THAT(notices_, Contains(HasSubstr("torn last line")));

  const std::vector<Event> events = read_all(*store, id());
  EXPECT_THAT(texts(events), ElementsAre("hello", "hi"));
  EXPECT_TRUE(same_json(events[1].extra, json(R"({"seq":77,"colour":{"r":1}})")));
  EXPECT_EQ(bytes_of(thread_path(id())), whole + std::string(kTornLine))
      << "reading changes nothing";

  EXPECT_THAT(broken(check(*store)), ElementsAre(HasSubstr("torn last line")));
  EXPECT_EQ(bytes_of(thread_path(id())), whole + std::string(kTornLine));
  const std::vector<Finding> repaired = check(*store, true);
  EXPECT_THAT(repaired, Contains(testing::Field(&Finding::repaired, true)));
  EXPECT_EQ(bytes_of(thread_path(id())), whole) << "nothing else changed";
  EXPECT_THAT(broken(check(*store)), IsEmpty());

  ASSERT_EQ(files_in(path(".skein/torn")), 1U);
  for (const auto& kept : std::filesystem::directory_iterator(path(".skein/torn"))) {
    EXPECT_EQ(bytes_of(kept.path()), kTornLine);
  }
}

TEST_F(ForeignFiles, AppendingRemovesATornLineAndKeepsTheRest) {
  write_foreign(std::string(kLegacyLine) + "\n" + std::string(kTornLine));
  const auto store = open();
  EXPECT_EQ(must_append(*store, id(), message("new")), 2U);
  const std::string bytes = bytes_of(thread_path(id()));
  EXPECT_TRUE(bytes.starts_with(std::string(kForeignManifest) + "\n" + std::string(kLegacyLine) +
                                "\n{\"type\":\"message\""));
  EXPECT_THAT(texts(read_all(*store, id())), ElementsAre("hello", "new"));
  EXPECT_EQ(files_in(path(".skein/torn")), 1U);
}

TEST_F(ForeignFiles, ACompleteLastLineWithoutNewlineIsKept) {
  write_foreign(kLegacyLine);
  const auto store = open();
  EXPECT_EQ(get_thread(*store, id()).last_seq, 1U);
  EXPECT_EQ(must_append(*store, id(), message("new")), 2U);
  EXPECT_TRUE(events_of(thread_path(id())).starts_with(std::string(kLegacyLine) + "\n{"));
  EXPECT_THAT(texts(read_all(*store, id())), ElementsAre("hello", "new"));
}

TEST_F(ForeignFiles, AManifestWithoutNewlineIsAThreadWithoutEvents) {
  write_bytes(thread_path(id()), kForeignManifest);
  const auto store = open();
  EXPECT_EQ(get_thread(*store, id()).last_seq, 0U);
  EXPECT_EQ(must_append(*store, id(), message("first")), 1U);
  EXPECT_THAT(texts(read_all(*store, id())), ElementsAre("first"));
  must(store->update(id(), patch(R"({"title":"T"})"), {}));
  EXPECT_THAT(texts(read_all(*store, id())), ElementsAre("first"));
}

TEST_F(ForeignFiles, AnUpdateKeepsUnknownFieldsAndTheChannel) {
  write_foreign(std::string(kLegacyLine) + "\r\n" + std::string(kForeignLine));
  const auto store = open();
  const std::string events = events_of(thread_path(id()));
  const Manifest before = get_thread(*store, id());
  const Manifest after = must(store->update(id(), patch(R"({"title":"New"})"), {}));
  EXPECT_NE(after.version, before.version);
  EXPECT_THAT(line_1_of(thread_path(id())),
              testing::AllOf(HasSubstr(R"("channel":"telegram")"), HasSubstr(R"("mood":"blue")"),
                             HasSubstr(R"("title":"New")")));
  EXPECT_EQ(events_of(thread_path(id())), events) << "every byte of the events is as it was";
  EXPECT_EQ(get_thread(*store, id()).title, "New");
}

TEST_F(ForeignFiles, AFileThatAnotherProgramRenamedIntoPlaceIsNoticed) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent", {message("one")});
  must_append(*store, made.id, message("two"));
  const auto file = thread_path(made.id);
  const std::string other = bytes_of(file) + std::string(kLegacyLine) + "\n";
  write_bytes(path("elsewhere"), other);
  std::filesystem::rename(path("elsewhere"), file);
  EXPECT_EQ(must_append(*store, made.id, message("four")), 4U);
  EXPECT_THAT(texts(read_all(*store, made.id)), ElementsAre("one", "two", "hello", "four"));
}

TEST_F(ForeignFiles, ALineOneThatAnotherProgramRewroteIsItsNewManifest) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent", {message("one")});
  const auto file = thread_path(made.id);
  std::string line = line_1_of(file);
  line.erase(line.find_last_not_of(" \n") + 1);
  const auto at = line.find("\"agentId\"");
  line.insert(at, R"("title":"Theirs",)");
  write_bytes(file, line + "\n" + events_of(file));
  const Manifest read = get_thread(*store, made.id);
  EXPECT_EQ(read.title, "Theirs");
  EXPECT_NE(read.version, made.version);
  EXPECT_TRUE(read.extra.empty());
  const Manifest updated = must(store->update(made.id, patch(R"({"taskId":"t"})"), {}));
  EXPECT_EQ(updated.title, "Theirs");
  EXPECT_THAT(texts(read_all(*store, made.id)), ElementsAre("one"));
}

// Is asked for the time after the end of a file was read, and before the file is copied.
class ActingClock final : public Clock {
 public:
  Timestamp now() override {
    if (action) std::exchange(action, nullptr)();
    return clock_.now();
  }
  std::int64_t boot_ms() override { return clock_.boot_ms(); }
  std::string boot_id() override { return clock_.boot_id(); }

  std::function<void()> action;  // once

 private:
  ManualClock clock_;
};

TEST_F(ForeignFiles, KeepWhatAnotherProgramAppendsWhileLineOneIsWritten) {
  const std::string line(kLegacyLine);
  // What the file ends in, and what is appended to that.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {line + "\n", line + "\n"}, {line + "\n" + line.substr(0, 20), line.substr(20) + "\n"}};
  for (const auto& [before, appended] : cases) {
    SCOPED_TRACE(before);
    write_foreign(before);
    ActingClock clock;
    StoreOptions options;
    options.clock = &clock;
    const auto store = must(open_store("jsonl:" + root(), std::move(options)));
    ASSERT_EQ(get_thread(*store, id()).last_seq, 1U);
    clock.action = [&] { add_bytes(thread_path(id()), appended); };
    EXPECT_TRUE(fails(store->update(id(), patch(R"({"title":"New"})"), {}), ErrorCode::kConflict,
                      {thread_path(id()).string(), "retry"}));
    EXPECT_EQ(events_of(thread_path(id())), before + appended);
    must(store->update(id(), patch(R"({"title":"New"})"), {}));
    EXPECT_THAT(texts(read_all(*store, id())), ElementsAre("hello", "hello"));
    EXPECT_EQ(files_in(path(".skein/tmp")), 0U);
  }
}

TEST_F(ForeignFiles, JsonThatCameWithLineFeedsStaysOnOneLine) {
  const auto store = open();
  NewThread request;
  request.agent_id = "agent";
  request.fields.metadata(json("{\n\"a\":\r\n1}"));
  const ThreadId made = must(store->create(request)).id;
  must_append(*store, made, with_metadata(message("m"), "{\n\"b\":\n\"\\n\"\n}"));
  must_append(*store, made, tool_use("look", "{\n}"));
  const std::string bytes = bytes_of(thread_path(made));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\n'), 3);
  EXPECT_TRUE(same_json(get_thread(*store, made).metadata, json(R"({"a":1})")));
  EXPECT_TRUE(same_json(read_all(*store, made)[0].metadata, json(R"({"b":"\n"})")));
  EXPECT_THAT(broken(check(*store)), IsEmpty());
}

TEST_F(ForeignFiles, WhatIsNotAThreadFileIsLeftAlone) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent");
  write_bytes(path("agent/threads/notes.txt"), "x");
  write_bytes(path("agent/threads/0123456789AB.jsonl"), std::string(kForeignManifest) + "\n");
  write_bytes(path("agent/embeddings.jsonl"), "{}\n");
  write_bytes(path("..odd/threads/0123456789ab.jsonl"), std::string(kForeignManifest) + "\n");
  std::filesystem::create_directories(path("agent/threads/aaaaaaaaaaaa.jsonl"));
  std::filesystem::create_symlink(thread_path(made.id), path("agent/threads/bbbbbbbbbbbb.jsonl"));
  EXPECT_THAT(list_all_ids(*store, {}), ElementsAre(made.id));
  EXPECT_FALSE(exists(*store, must(ThreadId::parse("bbbbbbbbbbbb"))));
  EXPECT_THAT(check(*store), IsEmpty());
}

TEST_F(ForeignFiles, AnIdUnderTwoAgentsBelongsToTheFirstAndIsReported) {
  write_bytes(thread_path(id(), "beta"), R"({"agentId":"beta","createdAt":"2025-01-01T00:00:00Z",)"
                                         R"("updatedAt":"2025-01-01T00:00:00Z"})"
                                         "\n");
  write_bytes(thread_path(id(), "alpha"),
              R"({"agentId":"alpha","createdAt":"2025-01-01T00:00:00Z",)"
              R"("updatedAt":"2025-01-01T00:00:00Z"})"
              "\n");
  const auto store = open();
  EXPECT_EQ(get_thread(*store, id()).agent_id, "alpha");
  EXPECT_EQ(list_all_ids(*store, {}).size(), 1U);
  ListQuery of_beta;
  of_beta.agent_id = "beta";
  EXPECT_THAT(list_all_ids(*store, of_beta), IsEmpty());
  EXPECT_THAT(broken(check(*store)), ElementsAre(HasSubstr("beta")));
}

TEST_F(ForeignFiles, EventsOfOthersAreUnverifiableNotBroken) {
  write_foreign(std::string(kLegacyLine) + "\n" + std::string(kForeignLine) + "\n");
  const auto store = open();
  std::vector<Finding> findings;
  const CheckSummary summary =
      must(store->check({}, [&](const Finding& finding) { findings.push_back(finding); }));
  EXPECT_EQ(summary.health, Health::kUnverifiable);
  EXPECT_EQ(summary.unverifiable, 2U);
  EXPECT_EQ(summary.events, 2U);
  EXPECT_EQ(summary.broken, 0U);
}

class WithoutAgent : public ForeignFiles {
 protected:
  void SetUp() override {
    write_bytes(thread_path(id(), "writer"),
                R"({"title":"Old","createdAt":"2025-01-01T00:00:00.000Z",)"
                R"("updatedAt":"2025-01-02T00:00:00.000Z"})"
                "\n" +
                    std::string(kLegacyLine) + "\n");
  }
};

TEST_F(WithoutAgent, AThreadBelongsToTheAgentOfItsFolder) {
  const auto store = open();
  EXPECT_EQ(get_thread(*store, id()).agent_id, "writer");
  ListQuery query;
  query.agent_id = "writer";
  EXPECT_EQ(must(store->list(query)).threads.size(), 1U);
  EXPECT_THAT(broken(check(*store)), IsEmpty());
  EXPECT_EQ(must_append(*store, id(), message("more")), 2U);
}

TEST_F(WithoutAgent, AChangeWritesTheAgentDown) {
  const auto store = open();
  must(store->update(id(), patch(R"({"title":"New"})"), {}));
  EXPECT_THAT(line_1_of(thread_path(id(), "writer")), HasSubstr(R"("agentId":"writer")"));
  EXPECT_THAT(texts(read_all(*store, id())), ElementsAre("hello"));
}

TEST_F(WithoutAgent, AForkHasTheAgentOfTheFolder) {
  const auto store = open();
  NewThread fork;
  fork.agent_id = "writer";
  fork.from = Parent{id(), 1};
  EXPECT_EQ(must(store->create(fork)).agent_id, "writer");
}

}  // namespace
}  // namespace skein::test
