#include "work/item_merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "work/item_texts.h"
#include "work/item_view.h"

namespace skein::test {
namespace {

using testing::SizeIs;

Timestamp at(std::int64_t seconds) { return Timestamp::from_ms(seconds * 1000); }

WorkItem open_item(std::string id, std::string text, std::int64_t created) {
  WorkItem item;
  item.id = std::move(id);
  item.text = std::move(text);
  item.created_at = at(created);
  return item;
}

WorkItem resolved_item(std::string id, std::string text, std::int64_t created,
                       std::int64_t resolved, std::string note = "done") {
  WorkItem item = open_item(std::move(id), std::move(text), created);
  item.status = ItemStatus::kResolved;
  item.resolved_at = at(resolved);
  item.resolution_note = std::move(note);
  return item;
}

ItemList list_of(std::vector<WorkItem> items) { return merge({std::move(items), {}}, {}); }

TEST(Merging, ForTheSameIdResolvedWinsOverOpenWhicheverSideIsNewer) {
  const WorkItem open = open_item("t-1", "X", 9);  // created later than the other was resolved
  const WorkItem resolved = resolved_item("t-1", "X", 1, 2);
  for (const auto& [a, b] : {std::pair(open, resolved), std::pair(resolved, open)}) {
    const ItemList merged = merge(list_of({a}), list_of({b}));
    ASSERT_THAT(merged.items, SizeIs(1));
    EXPECT_EQ(merged.items[0].status, ItemStatus::kResolved);
    EXPECT_EQ(merged.items[0].resolution_note, "done");
  }
}

TEST(Merging, OfTwoResolutionsTheFirstIsKept) {
  const ItemList merged = merge(list_of({resolved_item("t-1", "X", 1, 5, "second")}),
                                list_of({resolved_item("t-1", "X", 1, 3, "first")}));
  EXPECT_EQ(merged.items[0].resolution_note, "first");
  EXPECT_EQ(merged.items[0].resolved_at, at(3));
}

TEST(Merging, ForEqualTextsResolvedWinsOverWhatWasCreatedBefore) {
  const ItemList merged = merge(list_of({open_item("t-1", "Fix the Bug", 1)}),
                                list_of({resolved_item("t-2", "fix the bug", 2, 5)}));
  ASSERT_THAT(merged.items, SizeIs(2));
  EXPECT_EQ(merged.items[0].status, ItemStatus::kResolved);
  EXPECT_EQ(merged.items[0].id, "t-1");
  EXPECT_EQ(merged.items[0].resolved_at, at(5));
  EXPECT_THAT(shown_items(merged.items), SizeIs(1)) << "one deed resolved both";
}

TEST(Merging, AProblemThatComesBackStaysOpen) {
  const ItemList merged = merge(list_of({open_item("t-1", "ÄPFEL", 6)}),
                                list_of({resolved_item("t-2", "äpfel", 2, 5)}));
  EXPECT_EQ(merged.items[1].id, "t-1");
  EXPECT_EQ(merged.items[1].status, ItemStatus::kOpen);
  EXPECT_THAT(shown_items(merged.items), SizeIs(2));
}

TEST(Merging, SameIdWithAnotherTextIsOneItemWithTheOriginalText) {
  const ItemList merged = merge(list_of({open_item("t-1", "a longer note about it", 5)}),
                                list_of({open_item("t-1", "original", 1)}));
  ASSERT_THAT(merged.items, SizeIs(1));
  EXPECT_EQ(merged.items[0].text, "original");
  EXPECT_EQ(merged.items[0].created_at, at(1));
  EXPECT_EQ(merged.items[0].extra.text(), R"({"notes":["a longer note about it"]})");
}

TEST(Merging, KeepsEveryTextOfAnIdHoweverListsAreGrouped) {
  const ItemList a = list_of({open_item("t-1", "one", 1)});
  const ItemList b = list_of({open_item("t-1", "two", 2)});
  const ItemList c = list_of({open_item("t-1", "three", 3)});
  EXPECT_EQ(merge(merge(a, b), c), merge(a, merge(c, b)));
  EXPECT_EQ(merge(merge(c, b), a).items[0].extra.text(), R"({"notes":["three","two"]})");
}

TEST(Merging, TakesTextsForEqualThatDifferInPunctuationOrAStaleId) {
  const ItemList merged = merge(list_of({open_item("t-1", "Fix the Bug.", 1)}),
                                list_of({resolved_item("t-2", "t-489d9c6c: fix the bug", 2, 5)}));
  EXPECT_EQ(merged.items[0].status, ItemStatus::kResolved);
  EXPECT_THAT(shown_items(merged.items), SizeIs(1));
}

TEST(Merging, TakesTimeInProportionToTheListWhateverItsItemsSay) {
  constexpr std::int64_t kMany = 20'000;
  std::vector<WorkItem> same_id;
  std::vector<WorkItem> same_text;
  for (std::int64_t i = 0; i < kMany; ++i) {
    same_id.push_back(open_item("t-1", fmt::format("text {}", i), 1));
    same_text.push_back(open_item(fmt::format("t-o{}", i), "X", kMany + i));
    same_text.push_back(resolved_item(fmt::format("t-r{}", i), "X", 1, kMany - 1 - i));
  }
  EXPECT_THAT(notes_of(list_of(same_id).items.at(0)), SizeIs(kMany - 1));
  std::size_t lookups = 0;
  const auto project_of = [&lookups](const WorkItem& item) {
    ++lookups;
    return item.id;
  };
  const ItemList merged = merge({same_text, {}}, {}, project_of);
  EXPECT_THAT(merged.items, SizeIs(2 * kMany));
  EXPECT_THAT(shown_items(merged.items, project_of), SizeIs(2 * kMany));
  EXPECT_LE(lookups, 4 * kMany);
}

TEST(Merging, OfManyResolutionsTheFirstAfterTheCreationCounts) {
  std::vector<WorkItem> items = {open_item("t-0", "X", 4)};
  for (const std::int64_t resolved : {9, 3, 6, 5, 8}) {
    items.push_back(resolved_item(fmt::format("t-{}", resolved), "X", 1, resolved));
  }
  const ItemList merged = list_of(items);
  EXPECT_EQ(merged.items.back().id, "t-0");
  EXPECT_EQ(merged.items.back().resolved_at, at(5));
}

TEST(Merging, CreationAndSourceSessionSurvive) {
  WorkItem known = open_item("t-1", "X", 1);
  known.source_session = "s-1";
  const WorkItem resolved = resolved_item("t-1", "X", 4, 5);
  for (const auto& [a, b] : {std::pair(known, resolved), std::pair(resolved, known)}) {
    const WorkItem joined = join(a, b);
    EXPECT_EQ(joined.created_at, at(1));
    EXPECT_EQ(joined.source_session, "s-1");
    EXPECT_EQ(joined.status, ItemStatus::kResolved);
  }
}

TEST(Merging, UnknownFieldsOfBothAreKeptWhicheverComesFirst) {
  WorkItem here = open_item("t-1", "X", 1);
  here.extra = Json::trusted(R"({"priority":1,"mine":true})");
  WorkItem there = here;
  there.extra = Json::trusted(R"({"theirs":true,"priority":2})");
  const std::string both = R"({"mine":true,"priority":1,"theirs":true})";
  EXPECT_EQ(join(here, there).extra.text(), both);
  EXPECT_EQ(join(there, here).extra.text(), both);
  EXPECT_EQ(join(here, here).extra.text(), here.extra.text()) << "as it came";
}

TEST(Merging, EntriesThatAreNoItemsAreKeptWhicheverComesFirst) {
  ItemList here;
  here.others = {Json::trusted("7"), Json::trusted("[1]")};
  ItemList there;
  there.others = {Json::trusted("[1]"), Json::trusted("null")};
  EXPECT_EQ(merge(here, there), merge(there, here));
  EXPECT_THAT(merge(here, there).others, SizeIs(3));
  EXPECT_EQ(merge(here, {}), here);
}

TEST(Merging, OpenItemsOfEqualTextAreAllKeptAndShownOnce) {
  const ItemList merged =
      merge(list_of({open_item("t-b", "same", 2)}), list_of({open_item("t-a", "SAME", 3)}));
  EXPECT_THAT(merged.items, SizeIs(2));
  const auto shown = shown_items(merged.items);
  ASSERT_THAT(shown, SizeIs(1));
  EXPECT_EQ(shown[0].id, "t-b") << "the oldest";
}

// --- Laws, over random lists ---

class RandomLists {
 public:
  explicit RandomLists(std::uint64_t seed) : random_(seed) {}

  // With `texts` 0 every item says something of its own.
  ItemList next(std::size_t texts) {
    std::vector<WorkItem> items;
    for (std::size_t count = pick(6); count > 0; --count) {
      const std::string id = "t-" + std::to_string(pick(5));
      const std::string text = texts == 0 ? id : "text " + std::to_string(pick(texts));
      const auto created = static_cast<std::int64_t>(pick(8));
      WorkItem item = pick(2) == 0
                          ? open_item(id, text, created)
                          : resolved_item(id, text, created, static_cast<std::int64_t>(pick(10)),
                                          std::to_string(pick(3)));
      if (pick(2) == 0) item.source_session = "s-" + std::to_string(pick(3));
      if (pick(2) == 0) {
        const std::string first(1, static_cast<char>('a' + pick(3)));
        const std::string second(1, static_cast<char>('d' + pick(2)));
        item.extra =
            Json::trusted(fmt::format(R"({{"{}":{},"{}":{}}})", second, pick(3), first, pick(3)));
      }
      items.push_back(std::move(item));
    }
    ItemList list = list_of(std::move(items));
    for (std::size_t count = pick(3); count > 0; --count) {
      list.others = {Json::trusted(std::to_string(pick(4)))};
    }
    return list;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  std::mt19937_64 random_;
};

TEST(MergingLaws, TheOrderOfListsDoesNotMatter) {
  RandomLists lists(1);
  for (int round = 0; round < 3000; ++round) {
    const ItemList a = lists.next(2);
    const ItemList b = lists.next(2);
    ASSERT_EQ(merge(a, b), merge(b, a)) << round;
  }
}

TEST(MergingLaws, MergingAgainChangesNothing) {
  RandomLists lists(2);
  for (int round = 0; round < 3000; ++round) {
    const ItemList a = lists.next(2);
    const ItemList b = lists.next(2);
    const ItemList merged = merge(a, b);
    ASSERT_EQ(merge(a, a), a) << round;
    ASSERT_EQ(merge(merged, b), merged) << round;
    ASSERT_EQ(merge(merged, merged), merged) << round;
  }
}

TEST(MergingLaws, HowListsAreGroupedDoesNotMatterWhereTextsDiffer) {
  RandomLists lists(3);
  for (int round = 0; round < 3000; ++round) {
    const ItemList a = lists.next(0);
    const ItemList b = lists.next(0);
    const ItemList c = lists.next(0);
    ASSERT_EQ(merge(merge(a, b), c), merge(a, merge(b, c))) << round;
  }
}

TEST(MergingLaws, ListsThatTakeEachOtherOverBecomeEqual) {
  RandomLists lists(4);
  for (int round = 0; round < 3000; ++round) {
    ItemList a = lists.next(2);
    ItemList b = lists.next(2);
    ItemList c = lists.next(2);
    // Each sees the others in another order.
    b = merge(b, a);
    c = merge(merge(c, a), b);
    a = merge(merge(a, c), b);
    b = merge(merge(b, a), c);
    c = merge(merge(c, b), a);
    a = merge(merge(a, b), c);
    ASSERT_EQ(a, b) << round;
    ASSERT_EQ(b, c) << round;
  }
}

TEST(MergingLaws, NothingIsLostAndNothingResolvedComesBack) {
  RandomLists lists(5);
  for (int round = 0; round < 3000; ++round) {
    const ItemList a = lists.next(2);
    const ItemList b = lists.next(2);
    const ItemList merged = merge(a, b);
    for (const ItemList* part : {&a, &b}) {
      for (const WorkItem& item : part->items) {
        const auto found = std::find_if(merged.items.begin(), merged.items.end(),
                                        [&](const WorkItem& other) { return other.id == item.id; });
        ASSERT_NE(found, merged.items.end()) << round;
        if (item.status == ItemStatus::kResolved) {
          ASSERT_EQ(found->status, ItemStatus::kResolved) << round;
        }
      }
    }
  }
}

}  // namespace
}  // namespace skein::test
