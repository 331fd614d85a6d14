// What users of other programs with work items rely on, where no other test shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/machine.h"
#include "work/item_formats.h"

namespace skein::test {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Timestamp kRead = Timestamp::from_ms(1'769'178'652'123);

WorkItem read_text(std::string_view json) {
  const ItemList list = read_items("[" + Json::string(json).text() + "]", kRead);
  EXPECT_THAT(list.items, SizeIs(1));
  return list.items.at(0);
}

TEST(MovedEntries, ANoteThatWasResolvedKeepsItsTimes) {
  const WorkItem item = read_text(
      R"({"id":"t-1","status":"resolved","note":"Sent","created_at":"2025-06-15T00:00:00.000Z",)"
      R"("resolved_at":"2025-07-01T12:00:00.000Z"})");
  EXPECT_EQ(item.status, ItemStatus::kResolved);
  EXPECT_EQ(item.created_at.str(), "2025-06-15T00:00:00.000Z");
  EXPECT_EQ(item.resolved_at.str(), "2025-07-01T12:00:00.000Z");
}

TEST(MovedEntries, ANoteWithoutATimeHasThatOfItsList) {
  EXPECT_EQ(read_text(R"({"id":"t-1","status":"open","note":"New"})").created_at, kRead);
}

// The order of two lists must not show, so the text itself decides.
TEST(MovedEntries, OfTwoTextsOfOneIdAndTimeTheLongerIsShown) {
  const std::string first = R"({"id":"t-1","text":"In brief","status":"open",)"
                            R"("created_at":"2026-01-01T00:00:00.000Z"})";
  const std::string second = R"({"id":"t-1","text":"In some more words","status":"open",)"
                             R"("created_at":"2026-01-01T00:00:00.000Z"})";
  for (const std::string& array :
       {"[" + first + "," + second + "]", "[" + second + "," + first + "]"}) {
    const ItemList list = read_items(array, kRead);
    ASSERT_THAT(list.items, SizeIs(1));
    EXPECT_EQ(list.items[0].text, "In some more words");
    EXPECT_EQ(list.items[0].extra.text(), R"({"notes":["In brief"]})");
  }
}

class MovedItems : public testing::Test {
 protected:
  std::optional<std::string> source_of(std::string_view id) {
    return must(machine_.items().show(id)).item.source_session;
  }

  ManualClock clock_;
  SeededIds ids_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  Machine machine_{*store_, clock_, ids_};
  Machine there_{*store_, clock_, ids_, "there"};
};

TEST_F(MovedItems, NewIdsAreAllDifferent) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(machine_.create("Number " + std::to_string(i)).id);
  EXPECT_THAT(ids, SizeIs(100));
}

TEST_F(MovedItems, APayloadGivesItsSessionToItemsThatNameNone) {
  const std::string session = machine_.start().session.id;
  machine_.close(
      R"({"open_threads":["{\"id\":\"t-1\",\"status\":\"open\",\"note\":\"Without\"}",)"
      R"("{\"id\":\"t-2\",\"status\":\"open\",\"note\":\"With\",\"source_session\":\"s-0\"}"]})");
  EXPECT_EQ(source_of("t-1"), session);
  EXPECT_EQ(source_of("t-2"), "s-0");
}

// Both were made on purpose, and each can be resolved by its id.
TEST_F(MovedItems, EntriesOfAListThatSayNearlyTheSameAreBothListed) {
  machine_.write(R"([{"id":"t-1","text":"Fix the login bug","status":"open"},)"
                 R"({"id":"t-2","text":"fix login bugs","status":"open"}])");
  EXPECT_THAT(machine_.texts(), SizeIs(2));
}

TEST_F(MovedItems, OfEqualTextsOfTwoSessionsTheOldestIsShown) {
  machine_.start();
  machine_.close(R"({"open_threads":[{"id":"t-1","text":"Shared","status":"open",)"
                 R"("created_at":"2026-01-20T00:00:00.000Z"}]})");
  there_.start();
  there_.close(R"({"open_threads":[{"id":"t-2","text":"Shared","status":"open",)"
               R"("created_at":"2026-01-19T00:00:00.000Z"}]})");
  clock_.advance(hours(1));
  const StartedSession started = machine_.start();
  ASSERT_THAT(started.open_items, SizeIs(1));
  EXPECT_EQ(started.open_items[0].item.id, "t-2");
  machine_.resolve("t-1");
  EXPECT_THAT(machine_.texts(), IsEmpty()) << "one deed resolves both";
}

TEST_F(MovedItems, ThoseOfASessionThatWasNeverClosedStayWhereTheyAre) {
  there_.start();
  there_.create("Only there");
  EXPECT_THAT(machine_.start().open_items, IsEmpty());
}

TEST_F(MovedItems, WhatWasResolvedElsewhereIsNotOpenedByAListThatIsOlder) {
  machine_.start();
  const std::string id = machine_.create("Comes up again").id;
  machine_.close();
  clock_.advance(hours(1));
  machine_.start();
  there_.start();
  there_.resolve(id);
  there_.close();
  clock_.advance(hours(1));
  machine_.close(R"({"open_threads":[{"id":")" + id +
                 R"(","text":"Comes up again","status":"open"}]})");
  EXPECT_THAT(machine_.texts(), IsEmpty());
  EXPECT_THAT(machine_.start().open_items, IsEmpty());
}

TEST_F(MovedItems, ANoteNamesAnOriginalInAnyCase) {
  const std::string original = machine_.create("Flaky login test").id;
  ResolveItem request;
  request.id = machine_.create("Retry the upload").id;
  request.resolution_note = "DUPLICATE OF " + original;
  std::vector<WorkItem> also;
  must(machine_.items().resolve(request, &also));
  ASSERT_THAT(also, SizeIs(1));
  EXPECT_EQ(also[0].id, original);
}

TEST_F(MovedItems, AnOriginalThatIsResolvedAlreadyStaysAsItIs) {
  const std::string original = machine_.create("Flaky login test").id;
  const WorkItem first = machine_.resolve(original, "fixed");
  clock_.advance(hours(1));
  ResolveItem request;
  request.id = machine_.create("Retry the upload").id;
  request.resolution_note = "Duplicate of " + original;
  std::vector<WorkItem> also;
  must(machine_.items().resolve(request, &also));
  EXPECT_THAT(also, IsEmpty());
  EXPECT_EQ(must(machine_.items().show(original)).item, first);
}

// A text is looked for in one project, an id names one item of the workspace.
TEST_F(MovedItems, AnIdSelectsAnItemOfAnyProject) {
  const std::string id = machine_.create("Of the workspace").id;
  machine_.start("billing");
  EXPECT_EQ(machine_.resolve(id).status, ItemStatus::kResolved);
}

TEST_F(MovedItems, AStatusOfAnotherProgramIsOpenUnlessItIsResolved) {
  machine_.write(R"([{"id":"t-1","text":"One","status":"dormant"},)"
                 R"({"id":"t-2","text":"Two","status":"archived"},)"
                 R"({"id":"t-3","text":"Three","status":"resolved"}])");
  EXPECT_THAT(machine_.texts(), ElementsAre("One", "Two"));
  EXPECT_THAT(must(machine_.items().show("t-1")).item.extra.text(), HasSubstr("dormant"));
}

}  // namespace
}  // namespace skein::test
