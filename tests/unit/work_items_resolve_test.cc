// Resolving items: by id, text and position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "work_items_fixture.h"

namespace skein::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(WorkItemsTest, ResolvingByIdRecordsTimeSessionAndNote) {
  const std::string session = machine_.start().session.id;
  const WorkItem item = machine_.create("Package name");
  clock_.advance(milliseconds(7));
  const WorkItem resolved = machine_.resolve(item.id, "renamed");
  EXPECT_EQ(resolved.status, ItemStatus::kResolved);
  EXPECT_EQ(resolved.resolved_at, clock_.now());
  EXPECT_EQ(resolved.resolved_by_session, session);
  EXPECT_EQ(resolved.resolution_note, "renamed");
  EXPECT_EQ(resolved.created_at, item.created_at);
  EXPECT_THAT(machine_.list().items, ElementsAre(resolved));
}

TEST_F(WorkItemsTest, ResolvingTwiceKeepsTheFirst) {
  const std::string id = machine_.create("Once").id;
  const WorkItem first = machine_.resolve(id, "first");
  clock_.advance(hours(1));
  EXPECT_EQ(machine_.resolve(id, "second"), first);
  EXPECT_THAT(machine_.list().items, ElementsAre(first));
}

TEST_F(WorkItemsTest, ATextMatchesAPartWithoutRegardToCaseInAnyScript) {
  const std::string a = machine_.create("Decide on the Package Name").id;
  const std::string b = machine_.create("Überprüfe die ÄNDERUNGEN").id;
  const std::string c = machine_.create("修正登录页面").id;
  EXPECT_EQ(must(resolve_text("package name")).id, a);
  EXPECT_EQ(must(resolve_text("änderungen")).id, b);
  EXPECT_EQ(must(resolve_text("登录")).id, c);
}

TEST_F(WorkItemsTest, ABlankTextAndOneInSeveralItemsAreRefusedNamingThem) {
  const std::string a = machine_.create("Write the parser").id;
  const std::string b = machine_.create("Ship the parser to customers").id;
  EXPECT_TRUE(fails(resolve_text("  "), ErrorCode::kInvalid, {"blank"}));
  EXPECT_TRUE(fails(resolve_text("PARSER"), ErrorCode::kInvalid,
                    {a, b, "Write the parser", "Ship the parser to customers"}));
  EXPECT_TRUE(fails(resolve_text("lexer"), ErrorCode::kNotFound, {"lexer"}));
  EXPECT_EQ(list().total_open, 2u);
}

TEST_F(WorkItemsTest, AWholeTextIsMeantEvenIfAnotherContainsIt) {
  const std::string a = machine_.create("Parser").id;
  machine_.create("Parser of the configuration is slow");
  EXPECT_EQ(must(resolve_text("parser")).id, a);
}

TEST_F(WorkItemsTest, ATextIsLookedForInOpenItemsOnly) {
  const std::string id = machine_.create("Ship it").id;
  machine_.resolve(id);
  EXPECT_TRUE(fails(resolve_text("ship"), ErrorCode::kNotFound));
}

TEST_F(WorkItemsTest, ATextIsLookedForInTheProjectOfTheSession) {
  const std::string other = machine_.create("Fix the login page").id;
  machine_.start("billing");
  const std::string own = machine_.create("Show invoices after the login").id;
  EXPECT_EQ(must(resolve_text("LOGIN")).id, own) << "one of them is listed";
  EXPECT_TRUE(fails(resolve_text("login"), ErrorCode::kNotFound, {"billing", other}));
  EXPECT_EQ(must(machine_.items().show(other)).item.status, ItemStatus::kOpen);
  machine_.close();
  EXPECT_EQ(must(resolve_text("login")).id, other) << "without a session, in all projects";
}

TEST_F(WorkItemsTest, UnknownAndMalformedIdsAreErrors) {
  EXPECT_TRUE(fails(machine_.try_resolve("t-00000000"), ErrorCode::kNotFound, {"t-00000000"}));
  EXPECT_TRUE(fails(machine_.try_resolve("nonsense"), ErrorCode::kInvalid, {"nonsense"}));
  EXPECT_TRUE(fails(machine_.items().resolve({}), ErrorCode::kInvalid, {"id", "text"}));
}

TEST_F(WorkItemsTest, ANoteThatNamesAnOriginalResolvesItAsWell) {
  const std::string original = machine_.create("Flaky login test").id;
  const std::string other = machine_.create("Retry the upload").id;
  ResolveItem request;
  request.id = machine_.create("Login test fails at times").id;
  request.resolution_note = "Duplicate of " + original + ".";
  std::vector<WorkItem> also;
  EXPECT_EQ(must(machine_.items().resolve(request, &also)).id, request.id);
  ASSERT_THAT(also, SizeIs(1));
  EXPECT_EQ(also[0].id, original);
  EXPECT_THAT(*also[0].resolution_note, HasSubstr(*request.id));
  EXPECT_EQ(must(machine_.items().show(original)).item.status, ItemStatus::kResolved);
  EXPECT_EQ(must(machine_.items().show(other)).item.status, ItemStatus::kOpen);

  also.clear();
  request.id = other;
  request.resolution_note = "duplicate of t-00000000";
  EXPECT_TRUE(ok(machine_.items().resolve(request, &also)));
  EXPECT_THAT(also, IsEmpty());
}

TEST_F(WorkItemsTest, ANoteResolvesAnOriginalOnlyIfItCallsTheItemItsDuplicate) {
  std::vector<std::string> texts = {
      "Retry the upload", "Parse dates",     "Paint the door",   "Call the bank",
      "Grease hinges",    "Mow the lawn",    "Water the plants", "Feed the cat",
      "Bake bread",       "Sweep the floor", "Sharpen pencils",  "Write a poem",
      "Fix the roof",     "Buy milk",        "Wash the car",     "Learn Finnish"};
  const auto resolves = [&](const std::string& before) {
    const std::string other = machine_.create(texts.back()).id;
    texts.pop_back();
    ResolveItem request;
    request.id = machine_.create(texts.back()).id;
    texts.pop_back();
    request.resolution_note = before + " " + other;
    std::vector<WorkItem> also;
    must(machine_.items().resolve(request, &also));
    return !also.empty();
  };
  for (const char* note : {"Duplicate of", "Resolved: duplicate of", "closed as a duplicate of",
                           "It is a duplicate of"}) {
    EXPECT_TRUE(resolves(note)) << note;
  }
  for (const char* note : {"Fixed separately, this is not a duplicate of", "Not a duplicate of",
                           "t-c was the duplicate of", "Isn't a duplicate of"}) {
    EXPECT_FALSE(resolves(note)) << note;
  }
}

TEST_F(WorkItemsTest, APositionSelectsAmongOpenItemsAsListed) {
  machine_.resolve(machine_.create("Resolved").id);
  clock_.advance(milliseconds(1));
  machine_.create("First");
  clock_.advance(milliseconds(1));
  const std::string second = machine_.create("Second").id;
  EXPECT_EQ(machine_.resolve("#2").id, second);
  EXPECT_EQ(must(resolve_text("#1")).text, "First");
  EXPECT_TRUE(fails(machine_.try_resolve("#1"), ErrorCode::kNotFound, {"#1"}));
  const std::string numbered = machine_.create("Parser panics, #1187").id;
  EXPECT_EQ(must(resolve_text("#1187")).id, numbered) << "there is no item of that position";
}

TEST_F(WorkItemsTest, APositionIsThatOfTheFileWhereEntriesHaveNoTime) {
  machine_.write(R"(["Zebra","Apple","Mango"])");
  EXPECT_THAT(machine_.texts(), ElementsAre("Zebra", "Apple", "Mango"));
  EXPECT_EQ(machine_.resolve("#2").text, "Apple");
  EXPECT_THAT(machine_.texts(), ElementsAre("Zebra", "Mango")) << "also after it was saved";
}

TEST_F(WorkItemsTest, AnItemOfTheSharedStoreIsResolvedBeforeTheNextStart) {
  Machine there(*store_, clock_, ids_, "there");
  there.start();
  const std::string by_id = there.create("Made elsewhere").id;
  there.create("Known by its text");
  there.close();
  EXPECT_EQ(machine_.resolve(by_id).status, ItemStatus::kResolved);
  EXPECT_EQ(must(resolve_text("by its text")).status, ItemStatus::kResolved);
  EXPECT_EQ(list().total_resolved, 2u);
  EXPECT_TRUE(fails(machine_.try_resolve("t-00000000"), ErrorCode::kNotFound));
}

TEST_F(WorkItemsTest, AnItemThatIsElsewhereIsNotFoundButItsProjectIsNamed) {
  Machine there(*store_, clock_, ids_, "there");
  there.start("billing");
  const std::string id = there.create("In a session that is open").id;
  EXPECT_TRUE(fails(machine_.try_resolve(id), ErrorCode::kNotFound, {id, "billing"}));
  EXPECT_TRUE(fails(machine_.try_resolve("t-00000000"), ErrorCode::kNotFound, {"there is no"}));
}

TEST_F(WorkItemsTest, AnImportedTextThatNearlyRepeatsAnItemBecomesItsNote) {
  const std::string id = machine_.create("Fix the login bug").id;
  const std::string json = R"(["fix login bug","Another thing"])";
  EXPECT_EQ(must(machine_.items().import(json, std::nullopt)), 1u);
  EXPECT_THAT(must(machine_.items().show(id)).item.extra.text(), HasSubstr("fix login bug"));
  machine_.resolve(id);
  EXPECT_EQ(must(machine_.items().import(json, std::nullopt)), 0u);
  EXPECT_THAT(machine_.texts(), ElementsAre("Another thing"));
}

TEST_F(WorkItemsTest, ItemsOfTheSameTextAreResolvedTogether) {
  const std::string a = machine_.create("Twice").id;
  const std::string b = machine_.create("twice", true).id;
  EXPECT_EQ(list().total_open, 1u);
  machine_.resolve(b);
  EXPECT_EQ(list().total_open, 0u);
  EXPECT_EQ(list().total_resolved, 1u);
  EXPECT_EQ(must(machine_.items().show(a)).item.status, ItemStatus::kResolved);
}

// --- list_threads ---

}  // namespace
}  // namespace skein::test
