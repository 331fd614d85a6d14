// Line 1, and how it is changed without risking the events.
#include "store/jsonl/head.h"
#include "unit/jsonl_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::uint64_t inode_of(const std::filesystem::path& path) {
  return must(stat_file(path.string())).value().inode;
}

class ManifestLine : public JsonlFolder {};

TEST_F(ManifestLine, ASmallChangeIsMadeInPlace) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent", {message("one")});
  const auto file = thread_path(made.id);
  const auto inode = inode_of(file);
  const std::string before = bytes_of(file);
  must(store->update(made.id, patch(R"({"title":"A title","sessionId":"s-1"})"), {}));
  EXPECT_EQ(inode_of(file), inode);
  EXPECT_EQ(bytes_of(file).size(), before.size());
  EXPECT_EQ(events_of(file), before.substr(before.find('\n') + 1));
  EXPECT_EQ(files_in(path(".skein/manifests")), 0U);
}

TEST_F(ManifestLine, AChangeThatDoesNotFitCopiesTheFile) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent", {message("one"), message("two")});
  const auto file = thread_path(made.id);
  const auto inode = inode_of(file);
  const std::string events = events_of(file);
  ManifestPatch wide;
  wide.set("summary", std::string(5000, 'x'));
  must(store->update(made.id, wide, {}));
  EXPECT_NE(inode_of(file), inode);
  EXPECT_EQ(events_of(file), events);
  EXPECT_EQ(get_thread(*store, made.id).summary, std::string(5000, 'x'));
  EXPECT_EQ(must_append(*store, made.id, message("three")), 3U);
  EXPECT_THAT(texts(read_all(*store, made.id)), ElementsAre("one", "two", "three"));
  EXPECT_EQ(files_in(path(".skein/tmp")), 0U);
}

TEST_F(ManifestLine, AnAppendLeavesLineOneAlone) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent");
  const std::string line = line_1_of(thread_path(made.id));
  clock_.advance(std::chrono::seconds(5));
  must_append(*store, made.id, message("later"));
  EXPECT_EQ(line_1_of(thread_path(made.id)), line);
  EXPECT_EQ(get_thread(*store, made.id).updated_at, clock_.now());
}

TEST_F(ManifestLine, TheTimeOfTheLatestEventStaysWhenAnEarlierOneFollows) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent");
  Event late = message("late");
  late.timestamp = Timestamp::from_ms(clock_.now().ms() + 10'000);
  must_append(*store, made.id, late);
  must_append(*store, made.id, message("now"));
  EXPECT_EQ(get_thread(*store, made.id).updated_at, late.timestamp);
  EXPECT_EQ(get_thread(*store, made.id).version, made.version);
}

TEST_F(ManifestLine, AHalfWrittenLineIsWrittenAgainFromItsSidecar) {
  ThreadId id;
  std::string old_line;
  std::string new_line;
  {
    const auto store = open();
    id = create_thread(*store, "agent", {message("one")}).id;
    old_line = line_1_of(thread_path(id));
    must(store->update(id, patch(R"({"title":"After"})"), {}));
    new_line = line_1_of(thread_path(id));
  }
  ASSERT_EQ(old_line.size(), new_line.size());
  const std::string events = events_of(thread_path(id));
  for (std::size_t cut = 1; cut < new_line.size(); cut += 7) {
    const std::string torn = new_line.substr(0, cut) + old_line.substr(cut);
    write_bytes(thread_path(id), torn + events);
    write_bytes(path(".skein/manifests") / id.str(), new_line);
    const auto store = open();
    const Manifest read = get_thread(*store, id);
    if (torn == old_line) {
      EXPECT_FALSE(read.title.has_value()) << cut;
    } else {
      EXPECT_EQ(read.title, "After") << cut;
      EXPECT_EQ(bytes_of(thread_path(id)), new_line + events) << cut;
    }
    must(store->update(id, patch(R"({"taskId":"t"})"), {}));
    EXPECT_EQ(events_of(thread_path(id)), events);
    EXPECT_EQ(files_in(path(".skein/manifests")), 0U);
  }
}

TEST_F(ManifestLine, ASidecarOfAnotherWidthNeverTouchesTheEvents) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent", {message("one")});
  const auto file = thread_path(made.id);
  const std::string wide = jsonl::head_line(made, 2048);
  write_bytes(path(".skein/manifests") / made.id.str(), wide);
  std::string bytes = bytes_of(file);
  bytes[2] ^= 1;
  write_bytes(file, bytes);
  EXPECT_TRUE(fails(store->get(made.id), ErrorCode::kDamaged));
  EXPECT_EQ(bytes_of(file), bytes);
  EXPECT_THAT(texts(read_all(*store, made.id)), ElementsAre("one"));
}

TEST_F(ManifestLine, WhatAProcessThatDiedWasCopyingIsCleanedUp) {
  open();
  write_bytes(path(".skein/tmp/0123456789ab-1-1"), "half");
  open();
  EXPECT_EQ(files_in(path(".skein/tmp")), 0U);
}

TEST_F(ManifestLine, WhatWasChangedElsewhereIsSeen) {
  const auto here = open();
  const auto there = open();
  const Manifest made = create_thread(*here, "agent");
  EXPECT_FALSE(get_thread(*there, made.id).title.has_value());
  must(here->update(made.id, patch(R"({"title":"A"})"), {}));
  EXPECT_EQ(get_thread(*there, made.id).title, "A");
  must(there->update(made.id, patch(R"({"title":"B"})"), {}));
  EXPECT_EQ(get_thread(*here, made.id).title, "B");
  EXPECT_EQ(must(here->update(made.id, patch(R"({"taskId":"t"})"), {})).title, "B");
}

TEST_F(ManifestLine, WhereEventsLieIsFoundAgainAfterEveryRewrite) {
  const auto store = open();
  const auto writer = open();
  std::vector<Event> events;
  for (int i = 1; i <= 3000; ++i) events.push_back(message(std::to_string(i)));
  const ThreadId id = create_thread(*writer, "agent", events).id;
  const ReadRange range{.from = 2000, .limit = 2, .direction = Direction::kBackward};
  EXPECT_THAT(texts(read_all(*store, id, range)), testing::ElementsAre("2000", "1999"));
  // The file system gives the inode of the first file to one of the later ones.
  for (std::size_t length = 400; length < 4000; length += 400) {
    must(writer->update(id, ManifestPatch().title(std::string(length, 't')), {}));
    if (length % 800 == 0) {
      EXPECT_THAT(texts(read_all(*store, id, range)), testing::ElementsAre("2000", "1999"));
    }
  }
}

class EndOfARun : public ManifestLine {
 protected:
  // What a run does with the store: a lease, events, and the lease given back.
  void run(Store& store, ThreadId id) {
    const Lease lease = must(store.lease(id, "run", std::chrono::seconds(10), std::nullopt));
    clock_.advance(std::chrono::seconds(5));
    must_append(store, id, message("said"));
    must(store.lease(id, "run", std::chrono::milliseconds(0), lease.token));
  }
  static std::string updated_at(const std::string& line) {
    const std::string name = "\"updatedAt\":\"";
    const auto at = line.find(name) + name.size();
    return line.substr(at, line.find('"', at) - at);
  }
};

TEST_F(EndOfARun, GivesLineOneTheTimeOfTheLastEvent) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent");
  const auto file = thread_path(made.id);
  const auto inode = inode_of(file);
  run(*store, made.id);
  EXPECT_EQ(updated_at(line_1_of(file)), clock_.now().str());
  EXPECT_EQ(inode_of(file), inode) << "in place, however long the thread is";
  EXPECT_EQ(files_in(path(".skein/manifests")), 0U);
  const Manifest read = get_thread(*store, made.id);
  EXPECT_EQ(read.updated_at, clock_.now());
  EXPECT_EQ(read.version, made.version) << "nothing that anybody reads has changed";
  EXPECT_THAT(broken(check(*store)), IsEmpty());
}

TEST_F(EndOfARun, RewritesLineOneOfAnotherProgramWhole) {
  const std::string event =
      R"({"role":"user","text":"hello","timestamp":"2025-01-03T00:00:00.000Z"})";
  write_bytes(thread_path(id()),
              R"({"agentId":"agent","channel":"telegram","createdAt":"2025-01-01T00:00:00.000Z",)"
              R"("updatedAt":"2025-01-01T00:00:00.000Z"})"
              "\n" +
                  event + "\n");
  const auto store = open();
  const Manifest before = get_thread(*store, id());
  run(*store, id());
  const std::string line = line_1_of(thread_path(id()));
  EXPECT_EQ(updated_at(line), clock_.now().str());
  EXPECT_THAT(line, testing::HasSubstr(R"("channel":"telegram")"));
  EXPECT_TRUE(events_of(thread_path(id())).starts_with(event + "\n"));
  EXPECT_EQ(get_thread(*store, id()).version, before.version);
}

TEST_F(EndOfARun, HalfWrittenIsWrittenAgainByTheNextWhoReads) {
  ThreadId id;
  std::string old_line;
  {
    const auto store = open();
    id = create_thread(*store, "agent").id;
    old_line = line_1_of(thread_path(id));
    run(*store, id);
  }
  const std::string new_line = line_1_of(thread_path(id));
  const std::string events = events_of(thread_path(id));
  ASSERT_EQ(old_line.size(), new_line.size());
  for (std::size_t cut = 1; cut < new_line.size(); cut += 11) {
    write_bytes(thread_path(id), new_line.substr(0, cut) + old_line.substr(cut) + events);
    write_bytes(path(".skein/manifests") / id.str(), new_line);
    const auto store = open();
    EXPECT_EQ(get_thread(*store, id).updated_at, clock_.now()) << cut;
    EXPECT_THAT(texts(read_all(*store, id)), ElementsAre("said")) << cut;
  }
}

TEST_F(EndOfARun, GivesTheLeaseBackThoughLineOneIsDamaged) {
  const auto store = open();
  const Manifest made = create_thread(*store, "agent", {message("one")});
  const Lease lease = must(store->lease(made.id, "run", std::chrono::seconds(10), std::nullopt));
  std::string bytes = bytes_of(thread_path(made.id));
  bytes[2] ^= 1;
  write_bytes(thread_path(made.id), bytes);
  must(store->lease(made.id, "run", std::chrono::milliseconds(0), lease.token));
  EXPECT_EQ(bytes_of(thread_path(made.id)), bytes);
  EXPECT_EQ(files_in(path(".skein/leases")), 0U);
}

}  // namespace
}  // namespace skein::test
