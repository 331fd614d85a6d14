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

}  // namespace
}  // namespace skein::test
