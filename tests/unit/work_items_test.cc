#include "skein/work_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skein/threads.h"
#include "work_items_fixture.h"

namespace skein::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

// --- create_thread ---

TEST_F(WorkItemsTest, ACreatedItemHasAnIdAStatusAndATime) {
  const WorkItem item = machine_.create("Fix the bug");
  EXPECT_THAT(item.id, MatchesRegex("t-[0-9a-f]{8}"));
  EXPECT_EQ(item.status, ItemStatus::kOpen);
  EXPECT_EQ(item.created_at, clock_.now());
  EXPECT_EQ(item.source_session, std::nullopt);
  EXPECT_THAT(machine_.list().items, ElementsAre(item));
}

TEST_F(WorkItemsTest, TheFileHasOnlyTheFieldsOfItsSchema) {
  CreateItem request;
  request.text = "Linked";
  request.project = "other";
  request.opened_by.commit = "abc123";
  const WorkItem item = must(machine_.items().create(request));
  EXPECT_EQ(machine_.read(), "[\n  {\n    \"id\": \"" + item.id +
                                 "\",\n    \"text\": \"Linked\",\n    \"status\": \"open\",\n"
                                 "    \"created_at\": \"" +
                                 item.created_at.str() + "\"\n  }\n]");
}

TEST_F(WorkItemsTest, TheNewestOpenSessionOfTheWorkspaceIsTheSource) {
  machine_.start();
  clock_.advance(milliseconds(5));
  const std::string newest = machine_.start().session.id;
  const WorkItem item = machine_.create("In a session");
  EXPECT_EQ(item.source_session, newest);
  EXPECT_EQ(machine_.resolve(item.id).resolved_by_session, newest);

  CreateItem request;
  request.text = "Somebody else says which";
  request.session_id = "c2d841be-fff2-4ac9-ae1e-4d604e2e4d69";
  EXPECT_TRUE(
      fails(machine_.items().create(request), ErrorCode::kNotFound, {*request.session_id, newest}));
  StartSession known;
  known.agent = "tester";
  known.session_id = request.session_id;
  must(machine_.sessions().start(known));
  EXPECT_EQ(must(machine_.items().create(request)).source_session, request.session_id);
  request.session_id = "../../etc/passwd";
  EXPECT_TRUE(fails(machine_.items().create(request), ErrorCode::kInvalid, {"session id", ".."}));
}

TEST_F(WorkItemsTest, ANearDuplicateIsRefusedAndTheStoredTextQuoted) {
  const WorkItem item = machine_.create("Fix the login bug of OD-692");
  EXPECT_TRUE(fails(try_create("fix login bug of OD-692"), ErrorCode::kConflict,
                    {item.id, "Fix the login bug of OD-692"}));
  EXPECT_THAT(machine_.list().items, SizeIs(1));
  machine_.create("fix login bug of OD-692", true);
  EXPECT_THAT(machine_.list().items, SizeIs(2));
}

TEST_F(WorkItemsTest, TheSameTextIsNoDuplicateInAnotherProject) {
  machine_.create("Fix the login bug");
  CreateItem request;
  request.text = "Fix the login bug";
  request.project = "other";
  EXPECT_TRUE(ok(machine_.items().create(request)));
  EXPECT_TRUE(fails(machine_.items().create(request), ErrorCode::kConflict));
  EXPECT_EQ(list().total_open, 2u);
}

TEST_F(WorkItemsTest, ResolvingAnItemLeavesTheSameTextOfAnotherProjectAlone) {
  const std::string id = machine_.create("Fix the login bug").id;
  CreateItem request;
  request.text = "Fix the login bug";
  request.project = "other";
  const std::string other = must(machine_.items().create(request)).id;
  clock_.advance(milliseconds(1));
  machine_.resolve(id);
  EXPECT_EQ(must(machine_.items().show(other)).item.status, ItemStatus::kOpen);
  EXPECT_EQ(list().total_open, 1u);
}

TEST_F(WorkItemsTest, TextsThatBreakARuleAreRefused) {
  EXPECT_TRUE(fails(try_create(""), ErrorCode::kInvalid, {"blank"}));
  EXPECT_TRUE(fails(try_create(" \n\u200b"), ErrorCode::kInvalid, {"blank"}));
  EXPECT_TRUE(fails(try_create(std::string("a\0b", 3)), ErrorCode::kInvalid, {"control"}));
  EXPECT_TRUE(fails(try_create("\x1b[2J"), ErrorCode::kInvalid, {"control"}));
  EXPECT_TRUE(fails(try_create("\xFF"), ErrorCode::kInvalid, {"UTF-8"}));
  EXPECT_TRUE(fails(try_create(std::string(8193, 'x')), ErrorCode::kInvalid, {"8192", "8193"}));
  EXPECT_FALSE(std::filesystem::exists(machine_.file()));
  CreateItem request;
  request.text = "x";
  request.project = std::string(101, 'p');
  EXPECT_TRUE(fails(machine_.items().create(request), ErrorCode::kInvalid, {"project", "100"}));
  request.project = std::nullopt;
  request.opened_by.thread = "../x";
  EXPECT_TRUE(fails(machine_.items().create(request), ErrorCode::kInvalid, {"thread", "../x"}));
}

TEST_F(WorkItemsTest, ATextMayHaveThreeThousandCharactersOfAnyScript) {
  const auto text_of = [](std::string_view character) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += character;
    return text;
  };
  EXPECT_EQ(machine_.create(text_of("測")).text, text_of("測"));
  machine_.start();
  EXPECT_EQ(machine_.close(R"({"open_threads":[")" + text_of("試") + R"("]})").created, 1u);
  const std::string longer = text_of("測") + text_of("測") + text_of("測");
  EXPECT_TRUE(fails(try_create(longer), ErrorCode::kInvalid, {"8192", "9000"}));
  const std::string broken(limits::kMaxItemTextBytes + 1, '\x80');
  EXPECT_TRUE(fails(try_create(broken), ErrorCode::kInvalid, {"32768", "32769"}));
}

TEST_F(WorkItemsTest, AnItemKeepsTheIssueThatItIsAboutInTheStoreOnly) {
  CreateItem request;
  request.text = "Fix the timeout of the mail relay";
  request.linear_issue = "PROJ-123";
  const WorkItem made = must(machine_.items().create(request));
  EXPECT_EQ(made.linear_issue, "PROJ-123");
  EXPECT_EQ(must(machine_.items().show(made.id)).item.linear_issue, "PROJ-123");
  EXPECT_EQ(list().items.at(0).item.linear_issue, "PROJ-123");
  EXPECT_EQ(machine_.read().find("PROJ-123"), std::string::npos);
  EXPECT_EQ(machine_.start().open_items.at(0).item.linear_issue, "PROJ-123");
  EXPECT_EQ(machine_.close().open_items.at(0).linear_issue, "PROJ-123");
  EXPECT_EQ(machine_.read().find("PROJ-123"), std::string::npos);
  EXPECT_EQ(machine_.resolve(made.id).linear_issue, "PROJ-123");
  request.linear_issue = std::string(129, 'P');
  EXPECT_TRUE(
      fails(machine_.items().create(request), ErrorCode::kInvalid, {"linear_issue", "128"}));
}

TEST_F(WorkItemsTest, TheIssueOfAnItemCountsAsAKeyOfItsText) {
  const auto create = [this](std::string text, std::string issue) {
    CreateItem request;
    request.text = std::move(text);
    request.linear_issue = std::move(issue);
    return machine_.items().create(request);
  };
  const std::string id =
      must(create("Environment variables of the mail relay must be checked", "OD-692")).id;
  EXPECT_TRUE(fails(create("OD-692: check the environment variables, the relay is down", ""),
                    ErrorCode::kConflict, {id}));
  EXPECT_TRUE(fails(create("Check the environment variables, the relay is down",
                           "https://linear.app/od/issue/od-692/relay"),
                    ErrorCode::kConflict, {id}));
  must(create("Check the environment variables, the relay is down", ""));
  must(create("The mail relay: check environment variables", "OD-693"));
  machine_.start();
  const ClosedSession closed = machine_.close(
      R"({"open_threads":["OD-692: environment variables of the relay: check after restart"]})");
  EXPECT_EQ(closed.created, 0u) << "a closing session compares likewise";
}

TEST_F(WorkItemsTest, AProblemThatComesBackIsOpenEvenIfAnotherClockWasAhead) {
  machine_.write(
      R"([{"id":"t-1","text":"Leak","status":"resolved","created_at":"2026-01-01T00:00:00.000Z",)"
      R"("resolved_at":"2026-12-01T00:00:00.000Z"}])");
  const WorkItem again = machine_.create("leak");
  EXPECT_GT(again.created_at, must(Timestamp::parse("2026-12-01T00:00:00Z")));
  EXPECT_THAT(machine_.texts(), ElementsAre("leak"));
}

// --- resolve_thread ---

TEST_F(WorkItemsTest, OpenItemsAreListedByDefaultAndOthersOnRequest) {
  const std::string old = machine_.create("Resolved long ago").id;
  machine_.resolve(old);
  clock_.advance(hours(24 * 15));
  const std::string recent = machine_.create("Resolved lately").id;
  machine_.resolve(recent);
  clock_.advance(hours(1));
  machine_.create("Still to do");

  EXPECT_THAT(machine_.texts(), ElementsAre("Still to do"));
  ListItems with_resolved;
  with_resolved.include_resolved = true;
  EXPECT_THAT(machine_.texts(with_resolved), ElementsAre("Resolved lately", "Still to do"));
  ListItems resolved;
  resolved.status = ItemStatus::kResolved;
  EXPECT_THAT(machine_.texts(resolved), ElementsAre("Resolved long ago", "Resolved lately"));
}

TEST_F(WorkItemsTest, TotalsIgnoreStatusAndProjectState) {
  machine_.create("PROJECT STATE: Skein: OD-1done");
  machine_.create("One");
  const std::string two = machine_.create("Two").id;
  machine_.resolve(two);
  ListItems request;
  request.status = ItemStatus::kResolved;
  const ItemListing listing = list(request);
  EXPECT_THAT(listing.items, SizeIs(1));
  EXPECT_EQ(listing.total_open, 1u);
  EXPECT_EQ(listing.total_resolved, 1u);
  EXPECT_THAT(machine_.texts(), ElementsAre("One"));
}

TEST_F(WorkItemsTest, AProjectScopesStrictly) {
  machine_.write(R"(["from elsewhere"])");
  machine_.create("of the workspace");
  CreateItem request;
  request.text = "of another";
  request.project = "other";
  must(machine_.items().create(request));
  ListItems own;
  own.project = "skein";
  ListItems other;
  other.project = "other";
  EXPECT_THAT(machine_.texts(own),
              testing::UnorderedElementsAre("from elsewhere", "of the workspace"));
  EXPECT_THAT(machine_.texts(other), ElementsAre("of another"));
  EXPECT_THAT(machine_.texts(), SizeIs(3));
}

TEST_F(WorkItemsTest, RowsAndTotalsAreOfTheSameProject) {
  machine_.create("Of the workspace");
  machine_.start("billing");
  machine_.create("Invoice numbers");
  ListItems request;
  request.project = "billing";
  EXPECT_THAT(machine_.texts(request), ElementsAre("Invoice numbers"));
  EXPECT_EQ(list(request).total_open, 1u);
  request.project = "no such project";
  EXPECT_EQ(list(request).total_open, 0u);

  ListItems of_session;
  of_session.of_session = true;
  EXPECT_THAT(machine_.texts(of_session), ElementsAre("Invoice numbers"));
  EXPECT_EQ(list(of_session).total_open, 1u);
  EXPECT_EQ(list(of_session).project, "billing");
  EXPECT_EQ(list().total_open, 2u) << "of the whole workspace";
}

TEST_F(WorkItemsTest, CreateUnwrapsATextThatIsAnItem) {
  EXPECT_EQ(machine_.create(R"({"id":"t-abc","note":"Fix it","status":"open"})").text, "Fix it");
  EXPECT_TRUE(fails(try_create("t-489d9c6c: fix it."), ErrorCode::kConflict));
}

TEST_F(WorkItemsTest, AnItemOfASessionBelongsToItsProject) {
  machine_.start("billing");
  machine_.create("Invoice numbers");
  ListItems request;
  request.project = "billing";
  EXPECT_THAT(machine_.texts(request), ElementsAre("Invoice numbers"));
  request.project = "skein";
  EXPECT_THAT(machine_.texts(request), IsEmpty());
}

// --- Links and vitality ---

TEST_F(WorkItemsTest, AnItemLinksToWhatOpenedItAndWhatClosedItBothWays) {
  CreateItem create;
  create.text = "Linked";
  create.opened_by = {.thread = "a1b2c3d4e5f6", .run = "r-1", .checkpoint = {}, .commit = {}};
  const WorkItem item = must(machine_.items().create(create));
  machine_.create("Not linked");
  ResolveItem resolve;
  resolve.id = item.id;
  resolve.closed_by = {
      .thread = "a1b2c3d4e5f6", .run = {}, .checkpoint = "T-1-x", .commit = "def5678"};
  must(machine_.items().resolve(resolve));

  const ListedItem shown = must(machine_.items().show(item.id));
  EXPECT_EQ(shown.details->opened_by, create.opened_by);
  EXPECT_EQ(shown.details->closed_by, resolve.closed_by);
  EXPECT_EQ(shown.details->project, "skein");

  for (const ItemLinks& links :
       {ItemLinks{.thread = "a1b2c3d4e5f6", .run = {}, .checkpoint = {}, .commit = {}},
        ItemLinks{.thread = {}, .run = {}, .checkpoint = {}, .commit = "def5678"},
        ItemLinks{.thread = {}, .run = "r-1", .checkpoint = "T-1-x", .commit = {}}}) {
    ListItems request;
    request.status = ItemStatus::kResolved;
    request.linked_to = links;
    EXPECT_THAT(machine_.texts(request), ElementsAre("Linked"));
  }
  ListItems request;
  request.include_resolved = true;
  request.linked_to = {.thread = "a1b2c3d4e5f6", .run = "r-2", .checkpoint = {}, .commit = {}};
  EXPECT_THAT(machine_.texts(request), IsEmpty()) << "all links must hold";
}

TEST_F(WorkItemsTest, VitalityHalvesItsHeatEveryWeekAndHasAWord) {
  const std::string id = machine_.create("Ageing").id;
  const auto vitality = [&] { return must(machine_.items().show(id)).details->vitality; };
  EXPECT_DOUBLE_EQ(vitality().value, 0.5);
  EXPECT_STREQ(vitality().word, "emerging");
  clock_.advance(hours(24 * 3));
  EXPECT_STREQ(vitality().word, "active");
  clock_.advance(hours(24 * 4));
  EXPECT_NEAR(vitality().value, 1 - std::exp2(-0.5), 1e-9);
  EXPECT_STREQ(vitality().word, "cooling");
  clock_.advance(hours(24 * 14));
  EXPECT_STREQ(vitality().word, "dormant");

  machine_.start();
  machine_.close(R"({"open_threads":["ageing"]})");
  EXPECT_NEAR(vitality().value, 1 - std::exp2(-1.125), 1e-9) << "it was named in a session";
  EXPECT_STREQ(vitality().word, "active");
  must(machine_.items().show(id));
  EXPECT_NEAR(vitality().value, 1 - std::exp2(-1.125), 1e-9) << "looking is no touch";
}

TEST_F(WorkItemsTest, ItemsOfOtherProgramsHaveTheVitalityOfTheirCreation) {
  machine_.write(R"([{"id":"t-1","text":"Foreign","status":"open","created_at":")" +
                 clock_.now().str() + R"("}])");
  clock_.advance(hours(24 * 7));
  EXPECT_NEAR(must(machine_.items().show("t-1")).details->vitality.value, 1 - std::exp2(-0.5),
              1e-9);
}

// --- Import ---

TEST_F(WorkItemsTest, ImportingAListTwiceIsOnce) {
  const std::string list = R"(["plain",{"id":"t-abc","text":"known","status":"open","priority":1},)"
                           R"("{\"id\":\"t-def\",\"note\":\"note\",\"status\":\"resolved\"}"])";
  EXPECT_EQ(must(machine_.items().import(list, std::nullopt)), 3u);
  const std::string file = machine_.read();
  clock_.advance(hours(1));
  EXPECT_EQ(must(machine_.items().import(list, std::nullopt)), 0u);
  EXPECT_EQ(machine_.read(), file);
  EXPECT_THAT(file, HasSubstr("\"priority\": 1"));
  EXPECT_TRUE(fails(machine_.items().import("{}", std::nullopt), ErrorCode::kInvalid, {"array"}));
  EXPECT_TRUE(fails(machine_.items().import("[", std::nullopt), ErrorCode::kInvalid));
}

}  // namespace
}  // namespace skein::test
