// The change feed as a derived file.
#include <map>
#include <thread>

#include "unit/jsonl_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FeedFile : public JsonlFolder {
 protected:
  static std::vector<std::string> all(Store& store) {
    std::string cursor;
    return drain_text(store, cursor);
  }
};

TEST_F(FeedFile, IsMadeAgainFromTheFilesWhenItIsGone) {
  ThreadId kept;
  ThreadId removed;
  {
    const auto store = open();
    kept = create_thread(*store, "agent", {message("one")}).id;
    removed = create_thread(*store, "agent", {message("one")}).id;
    must(store->remove(removed));
    must(store->write(std::vector{record("runs", "a", "1"), record("runs", "b", "2")}));
    must(store->write(std::vector{deletion("runs", "b")}));
  }
  std::filesystem::remove(path(".skein/feed"));
  const auto store = open();
  EXPECT_THAT(all(*store),
              UnorderedElementsAre("created " + kept.str(), "appended " + kept.str() + " 1",
                                   "removed " + removed.str(), "written runs/a", "deleted runs/b"));
}

TEST_F(FeedFile, ACursorOfAnOldFeedBeginsAgain) {
  std::string cursor;
  ThreadId id;
  {
    const auto store = open();
    id = create_thread(*store, "agent").id;
    drain_text(*store, cursor);
  }
  std::filesystem::remove(path(".skein/feed"));
  const auto store = open();
  EXPECT_THAT(drain_text(*store, cursor), ElementsAre("created " + id.str()));
  EXPECT_THAT(drain_text(*store, cursor), IsEmpty());
}

TEST_F(FeedFile, ACursorOutlivesTheProcessAndACleanReboot) {
  std::string cursor;
  ThreadId id;
  {
    const auto store = open();
    id = create_thread(*store, "agent").id;
    drain_text(*store, cursor);
    must_append(*store, id, message("one"));
  }
  clock_.reboot();
  const auto store = open();
  must_append(*store, id, message("two"));
  EXPECT_THAT(drain_text(*store, cursor),
              ElementsAre("appended " + id.str() + " 1", "appended " + id.str() + " 2"));
}

TEST_F(FeedFile, AfterACrashOfTheMachineItIsMadeAgain) {
  std::string cursor;
  ThreadId id;
  {
    const auto store = open();
    id = create_thread(*store, "agent", {message("one")}).id;
    drain_text(*store, cursor);
  }
  std::filesystem::remove(path(".skein/feed.clean"));
  clock_.reboot();
  const auto store = open();
  EXPECT_THAT(drain_text(*store, cursor),
              ElementsAre("created " + id.str(), "appended " + id.str() + " 1"));
}

TEST_F(FeedFile, WhatADeadProcessDidNotTellIsTold) {
  std::string cursor;
  const auto feed = path(".skein/feed");
  ThreadId id;
  {
    const auto store = open();
    id = create_thread(*store, "agent", {message("one")}).id;
    drain_text(*store, cursor);
    const std::string told = bytes_of(feed);
    must_append(*store, id, message("two"));
    must(store->update(id, patch(R"({"title":"T"})"), {}));
    must(store->write(std::vector{record("runs", "a", "1")}));
    const ThreadId other = create_thread(*store, "agent").id;
    must(store->remove(other));
    write_bytes(feed, told);
  }
  std::filesystem::remove(path(".skein/feed.clean"));
  const auto store = open();
  EXPECT_THAT(drain_text(*store, cursor),
              testing::IsSupersetOf({"updated " + id.str(), "appended " + id.str() + " 2",
                                     std::string("written runs/a")}));
  EXPECT_THAT(drain_text(*store, cursor), IsEmpty());
}

TEST_F(FeedFile, AnEntryThatWasLostIsToldWithTheNextOne) {
  std::string cursor;
  const auto store = open();
  const ThreadId id = create_thread(*store, "agent", {message("one")}).id;
  drain_text(*store, cursor);
  const std::string told = bytes_of(path(".skein/feed"));
  {
    const auto other = open();
    must_append(*other, id, message("two"));
  }
  // As if the other had died before it wrote its entry.
  std::filesystem::resize_file(path(".skein/feed"), told.size());
  must_append(*store, id, message("three"));
  EXPECT_THAT(drain_text(*store, cursor),
              ElementsAre("appended " + id.str() + " 2", "appended " + id.str() + " 3"));
}

TEST_F(FeedFile, WhatOtherProgramsWroteIsTold) {
  const auto made = [this] {
    const auto store = open();
    return create_thread(*store, "agent", {message("one")}).id;
  }();
  add_bytes(thread_path(made), R"({"role":"user","text":"x","timestamp":"2025-01-03T00:00:00Z"})"
                               "\n");
  write_bytes(thread_path(id(), "other"),
              R"({"agentId":"other","createdAt":"2025-01-01T00:00:00Z",)"
              R"("updatedAt":"2025-01-01T00:00:00Z"})"
              "\n");
  const auto store = open();
  EXPECT_THAT(all(*store),
              UnorderedElementsAre("created " + made.str(), "appended " + made.str() + " 1",
                                   "appended " + made.str() + " 2", "created " + id().str()));
}

TEST_F(FeedFile, ALimitInsideOneEntryLosesNothing) {
  const auto store = open();
  const ThreadId id = create_thread(*store, "agent", {message("1"), message("2"), message("3")}).id;
  std::string cursor;
  EXPECT_THAT(drain_text(*store, cursor, 1),
              ElementsAre("created " + id.str(), "appended " + id.str() + " 1",
                          "appended " + id.str() + " 2", "appended " + id.str() + " 3"));
}

TEST_F(FeedFile, TellsEachThreadInOrderWhenTwoProcessesWriteToSeveral) {
  constexpr std::size_t kThreads = 4;
  constexpr int kEach = 100;
  const auto here = open();
  const auto there = open();
  std::vector<ThreadId> ids;
  for (std::size_t i = 0; i < kThreads; ++i) ids.push_back(create_thread(*here).id);
  std::string cursor;
  drain(*here, cursor);
  {
    std::vector<std::jthread> writers;
    for (Store* store : {here.get(), there.get()}) {
      for (const ThreadId id : ids) {
        writers.emplace_back([store, id] {
          for (int n = 0; n < kEach; ++n) must_append(*store, id, message("x"));
        });
      }
    }
  }
  std::map<ThreadId, Seq> last;
  for (const Change& change : drain(*here, cursor)) ASSERT_EQ(change.seq, ++last[change.thread]);
  for (const ThreadId id : ids) EXPECT_EQ(last[id], 2U * kEach);
}

}  // namespace
}  // namespace skein::test
