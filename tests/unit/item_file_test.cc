#include "work/item_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/json.h"
#include "support/machine.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string item_json(std::size_t number) {
  return R"({"id":"t-)" + std::to_string(number) + R"(","text":"item number )" +
         std::to_string(number) + R"(","status":"open","created_at":"2026-01-01T00:00:00.000Z"})";
}

class ItemFileTest : public testing::Test {
 protected:
  std::vector<std::string> copies_aside() const {
    std::vector<std::string> copies;
    for (const auto& entry : fs::directory_iterator(machine_.file().parent_path())) {
      if (entry.path().filename().string().starts_with("threads.json.damaged-")) {
        std::ifstream stream(entry.path(), std::ios::binary);
        copies.emplace_back(std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>());
      }
    }
    return copies;
  }
  Result<WorkItem> try_create() {
    CreateItem request;
    request.text = "new";
    return machine_.items().create(request);
  }

  ManualClock clock_;
  SeededIds ids_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  Machine machine_{*store_, clock_, ids_};
};

TEST_F(ItemFileTest, AFileThatIsNoListIsKeptAsideReportedAndNeverReplaced) {
  const std::vector<std::string> broken = {
      "", "not JSON", R"([{"id":"t-1","text":"cut of)", R"({"threads":[]})", "null", "[\"\xFF\"]"};
  for (const std::string& bytes : broken) {
    fs::remove_all(machine_.file().parent_path());
    machine_.write(bytes);
    for (int time = 0; time < 2; ++time) {
      EXPECT_TRUE(fails(try_create(), ErrorCode::kDamaged, {machine_.file().string(), "damaged-"}));
      EXPECT_TRUE(fails(machine_.items().list({}), ErrorCode::kDamaged));
      EXPECT_TRUE(fails(machine_.try_resolve("t-1"), ErrorCode::kDamaged));
    }
    EXPECT_EQ(machine_.read(), bytes);
    EXPECT_THAT(copies_aside(), ElementsAre(bytes)) << "one copy, however often it was met";
  }
}

TEST_F(ItemFileTest, UnknownFieldsAndEntriesOfOtherProgramsSurviveAChange) {
  machine_.write(
      R"([{"id":"t-1","text":"theirs","status":"open","created_at":"2026-01-01T00:00:00.000Z",)"
      "\n\"vital\":{\"a\":[1,\n2]}}, 42, {\"unknown\":\"entry\"}]");
  machine_.resolve("t-1", "done");
  const std::string file = machine_.read();
  EXPECT_THAT(file, HasSubstr(R"("vital": {"a":[1, 2]})"));
  EXPECT_THAT(file, HasSubstr("\n  42"));
  EXPECT_THAT(file, HasSubstr(R"({"unknown":"entry"})"));
}

TEST_F(ItemFileTest, ReadingChangesNothingAndMakesNothing) {
  EXPECT_THAT(machine_.texts(), SizeIs(0));
  EXPECT_FALSE(fs::exists(machine_.file().parent_path()));
  machine_.write(R"(["a","b"])");
  EXPECT_THAT(machine_.texts(), SizeIs(2));
  EXPECT_EQ(machine_.read(), R"(["a","b"])");
}

TEST_F(ItemFileTest, PlainStringsHaveTheSameIdsUntilTheFileIsSaved) {
  machine_.write(R"(["Fix the bug"])");
  const ItemListing listing = must(machine_.items().list({}));
  EXPECT_EQ(machine_.resolve(listing.items.at(0).item.id).text, "Fix the bug");
}

TEST_F(ItemFileTest, AFolderOrALinkInItsPlaceIsRefusedAndLeftAlone) {
  fs::create_directories(machine_.file());
  EXPECT_TRUE(fails(try_create(), ErrorCode::kIo, {"not a regular file"}));
  EXPECT_TRUE(fails(machine_.items().list({}), ErrorCode::kIo, {"not a regular file"}));
  fs::remove(machine_.file());
  const fs::path target = machine_.file().parent_path() / "elsewhere.json";
  std::ofstream(target) << R"(["precious"])";
  fs::create_symlink(target, machine_.file());
  EXPECT_TRUE(fails(try_create(), ErrorCode::kIo, {"not a regular file"}));
  EXPECT_TRUE(fs::is_symlink(machine_.file()));
}

TEST_F(ItemFileTest, AFolderThatCannotBeWrittenIsAnErrorThatNamesIt) {
  // Not by permissions, which do not bind root: something else is in the folder's place.
  std::ofstream(machine_.place().folder / ".gitmem") << "a file";
  EXPECT_TRUE(fails(try_create(), ErrorCode::kIo, {".gitmem"}));
}

TEST_F(ItemFileTest, AListOfManyMegabytesIsReadAndALargerOneRefusedByItsLimit) {
  std::string list = "[";
  while (list.size() < (10 << 20)) {
    list += item_json(list.size()) + ",";
  }
  list.back() = ']';
  machine_.write(list);
  EXPECT_GT(must(machine_.items().list({})).total_open, 90'000u);
  EXPECT_TRUE(ok(try_create()));
  machine_.write("[\"" + std::string(16 << 20, 'x') + "\"]");
  EXPECT_TRUE(fails(machine_.items().list({}), ErrorCode::kIo, {"limit"}));
}

TEST_F(ItemFileTest, AFullListTakesNoNewItemsButItsItemsCanBeResolved) {
  const std::size_t size = limits::kMaxItemListBytes - limits::kItemListRoomBytes - 100;
  machine_.write(R"([{"id":"t-1","text":"here","status":"open"},{"id":"t-2","text":")" +
                 std::string(size, 'x') + R"(","status":"open"}])");
  EXPECT_TRUE(fails(try_create(), ErrorCode::kInvalid, {"must not exceed"}));
  EXPECT_TRUE(ok(machine_.try_resolve("t-1")));
}

TEST_F(ItemFileTest, ThreadsOfOneProcessDoNotLoseEachOthersChanges) {
  constexpr int kThreads = 8;
  constexpr int kEach = 5;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const WorkItem item = machine_.create("item " + std::to_string(t * kEach + i));
          if (i % 2 == 0) machine_.resolve(item.id);
        }
      });
    }
  }
  const ItemListing listing = must(machine_.items().list({}));
  EXPECT_EQ(listing.total_open, 16u);
  EXPECT_EQ(listing.total_resolved, 24u);
}

}  // namespace
}  // namespace skein::test
