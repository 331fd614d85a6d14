#include "skein/work_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/backend.h"
#include "support/git_sandbox.h"
#include "support/machine.h"

namespace skein::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Two machines on one store of each kind.
class WorkSessionsTest : public testing::TestWithParam<std::string> {
 protected:
  static std::vector<std::string> texts(const StartedSession& started) {
    std::vector<std::string> texts;
    for (const ListedItem& listed : started.open_items) texts.push_back(listed.item.text);
    return texts;
  }
  void tick() { backend_.clock().advance(milliseconds(1)); }

  Backend backend_{GetParam()};
  SeededIds ids_{7};
  Machine a_{backend_.store(), backend_.clock(), ids_, "a"};
  Machine b_{backend_.store(), backend_.clock(), ids_, "b"};
};

INSTANTIATE_TEST_SUITE_P(, WorkSessionsTest, testing::ValuesIn(backend_names()),
                         [](const auto& info) { return info.param; });

TEST_P(WorkSessionsTest, AStartedSessionHasAUuidAnAgentAndAProject) {
  const StartedSession started = a_.start();
  EXPECT_THAT(started.session.id,
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(started.session.agent, "tester");
  EXPECT_EQ(started.session.project, "skein");
  EXPECT_THAT(started.open_items, IsEmpty());
  EXPECT_EQ(must(a_.sessions().get(started.session.id))->started_at, backend_.clock().now());
}

TEST_P(WorkSessionsTest, RemembersTheCommitThatItBeganWith) {
  init_repository(a_.place().folder);
  const std::string first = commit_file(a_.place().folder, "a", "1", "first");
  const std::string id = a_.start().session.id;
  EXPECT_EQ(must(a_.sessions().get(id))->initial_commit, first);
  const std::string second = commit_file(a_.place().folder, "a", "2", "second");
  a_.close();
  EXPECT_EQ(must(a_.sessions().get(id))->head, second);
  EXPECT_EQ(must(a_.sessions().get(id))->initial_commit, first);
  StartSession again;
  again.agent = "tester";
  again.session_id = id;
  EXPECT_EQ(must(a_.sessions().start(again)).session.initial_commit, first);
}

TEST_P(WorkSessionsTest, ItemsAreCarriedToAnotherMachine) {
  a_.start();
  const WorkItem item = a_.create("Carry me over");
  a_.close();
  const StartedSession there = b_.start();
  EXPECT_THAT(texts(there), ElementsAre("Carry me over"));
  EXPECT_EQ(b_.list(), a_.list()) << "also in the other's file";
  EXPECT_EQ(b_.list().items.at(0), item) << "created_at and source_session survive";
}

TEST_P(WorkSessionsTest, ClosingStoresTheWholeListResolvedOnesIncluded) {
  a_.start();
  const std::string id = a_.create("Done on a").id;
  a_.create("Open on a");
  a_.close();
  b_.start();
  b_.resolve(id);
  const ClosedSession closed = b_.close();
  EXPECT_THAT(closed.session.items, SizeIs(2));
  a_.start();
  EXPECT_THAT(a_.texts(), ElementsAre("Open on a"));
}

TEST_P(WorkSessionsTest, ClosingTakesOpenThreadsInAnyFormat) {
  a_.start();
  const std::string known = a_.create("Known already").id;
  const ClosedSession closed = a_.close(
      R"({"summary":"S","decisions":["D",{"title":"E"}],"learnings":["L"],"mood":"good",
          "open_threads":["Plain","known ALREADY",
            {"id":")" +
      known + R"(","note":"said otherwise","status":"open"},
            "{\"id\":\"t-abc\",\"note\":\"A note\",\"status\":\"open\"}",
            "{\"item\":\"Legacy\",\"context\":\"c\"}",
            {"id":"t-def","text":"Object","status":"open"}, 42]})");
  std::vector<std::string> open;
  for (const WorkItem& item : closed.open_items) open.push_back(item.text);
  EXPECT_THAT(open, UnorderedElementsAre("Known already", "Plain", "A note", "Legacy", "Object"));
  EXPECT_EQ(closed.created, 4u);
  EXPECT_THAT(closed.warnings, ElementsAre(HasSubstr("42"), HasSubstr("mood")));
  EXPECT_THAT(must(a_.items().show(known)).item.extra.text(), HasSubstr("said otherwise"));
  EXPECT_THAT(a_.texts(), SizeIs(5)) << "closing changes the file, too";

  const WorkSession stored = *must(a_.sessions().get(closed.session.id));
  EXPECT_FALSE(stored.open);
  EXPECT_EQ(stored.summary, "S");
  EXPECT_THAT(stored.decisions, SizeIs(2));
  EXPECT_EQ(stored.learnings.at(0).text(), R"("L")");
  EXPECT_EQ(stored.extra.text(), R"({"mood":"good"})");
  for (const WorkItem& item : stored.items) {
    if (item.text == "Plain") EXPECT_EQ(item.source_session, stored.id);
  }
}

TEST_P(WorkSessionsTest, APayloadResolvesItemsAndCannotOpenThemAgain) {
  a_.start();
  const std::string one = a_.create("One").id;
  const std::string two = a_.create("Two").id;
  const WorkItem resolved = a_.resolve(two, "first");
  tick();
  const ClosedSession closed = a_.close(R"({"open_threads":[{"id":")" + one +
                                        R"(","text":"One","status":"resolved"},{"id":")" + two +
                                        R"(","text":"Two","status":"open"}]})");
  EXPECT_EQ(closed.resolved, 2u) << "by the payload and during the session";
  EXPECT_THAT(a_.texts(), IsEmpty());
  const WorkItem by_payload = must(a_.items().show(one)).item;
  EXPECT_EQ(by_payload.resolved_at, backend_.clock().now());
  EXPECT_EQ(by_payload.resolved_by_session, closed.session.id);
  EXPECT_EQ(must(a_.items().show(two)).item, resolved);
}

TEST_P(WorkSessionsTest, APayloadResolvesByIdAlone) {
  a_.start();
  const std::string one = a_.create("One").id;
  const ClosedSession closed =
      a_.close(R"({"open_threads":[{"id":")" + one +
               R"(","status":"resolved"},{"id":"t-00000000","status":"resolved"}]})");
  EXPECT_EQ(must(a_.items().show(one)).item.status, ItemStatus::kResolved);
  EXPECT_EQ(must(a_.items().show(one)).item.text, "One");
  EXPECT_EQ(closed.resolved, 1u);
  EXPECT_THAT(closed.warnings, ElementsAre(HasSubstr("t-00000000")));
}

TEST_P(WorkSessionsTest, APayloadKeepsItsOrder) {
  a_.start();
  a_.close(R"({"open_threads":["Zebra","Apple","Mango","Banana","Cherry"]})");
  EXPECT_THAT(a_.texts(), ElementsAre("Zebra", "Apple", "Mango", "Banana", "Cherry"));
}

TEST_P(WorkSessionsTest, APayloadMakesNoSecondItemOfWhatIsOpen) {
  a_.start("billing");
  const std::string id = a_.create("Fix the login bug").id;
  const ClosedSession closed = a_.close(
      R"({"open_threads":["Fix the login bug.","t-489d9c6c: fix the login bug","fix login bugs",
          "Write the docs","write docs!"]})");
  EXPECT_EQ(closed.created, 1u);
  EXPECT_THAT(closed.open_items, SizeIs(2));
  EXPECT_THAT(closed.warnings, SizeIs(2));
  EXPECT_THAT(must(a_.items().show(id)).item.extra.text(), HasSubstr("fix login bugs"));
}

TEST_P(WorkSessionsTest, APayloadOfGitMemIsUnderstood) {
  a_.start();
  const ClosedSession closed = a_.close(
      R"({"close_type":"standard","project_state":"Skein: OD-1done OD-2->write tests",
          "learnings_created":["L"],"closing_reflection":{"what_broke":"nothing"}})");
  EXPECT_THAT(closed.warnings, IsEmpty());
  EXPECT_THAT(closed.session.learnings, SizeIs(1));
  EXPECT_THAT(must(a_.sessions().get(closed.session.id))->extra.text(),
              AllOf(HasSubstr("standard"), HasSubstr("what_broke")));
  const StartedSession started = b_.start();
  ASSERT_TRUE(started.project_state);
  EXPECT_EQ(started.project_state->project, "Skein");
  EXPECT_THAT(started.project_state->done, ElementsAre("OD-1"));
  EXPECT_TRUE(
      fails(CloseSession::parse(R"({"project_state":7})"), ErrorCode::kInvalid, {"project_state"}));
}

TEST_P(WorkSessionsTest, ATextThatWasResolvedAndIsNamedAgainIsOpenAgain) {
  a_.start();
  a_.resolve(a_.create("Comes back").id);
  tick();
  a_.close(R"({"open_threads":["comes back"]})");
  EXPECT_THAT(a_.texts(), ElementsAre("comes back"));
  EXPECT_THAT(texts(b_.start()), ElementsAre("comes back"));
}

TEST_P(WorkSessionsTest, OnlyFiveSessionsOfTheLastFourteenDaysAreCarried) {
  Machine foreign(backend_.store(), backend_.clock(), ids_, "foreign");
  foreign.start();
  foreign.create("Old");
  foreign.close();
  backend_.clock().advance(hours(24 * 14) + milliseconds(1));
  const StartedSession started = b_.start();
  EXPECT_THAT(texts(started), IsEmpty());
  EXPECT_THAT(foreign.texts(), ElementsAre("Old")) << "its own file still has it";
  ASSERT_TRUE(started.left_behind);
  EXPECT_EQ(started.left_behind->open, 1u);

  StartSession request;
  request.agent = "tester";
  request.session_id = started.session.id;
  request.carry_from = started.left_behind->session_id;
  const StartedSession again = must(b_.sessions().start(request));
  EXPECT_THAT(texts(again), ElementsAre("Old"));
  EXPECT_FALSE(again.left_behind);
  request.carry_from = "unknown";
  EXPECT_TRUE(fails(b_.sessions().start(request), ErrorCode::kNotFound, {"unknown"}));
}

TEST_P(WorkSessionsTest, AnItemIsNotLostHoweverManySessionsCloseAfterIt) {
  std::vector<std::unique_ptr<Machine>> others;
  for (int i = 0; i < 7; ++i) {
    others.push_back(std::make_unique<Machine>(backend_.store(), backend_.clock(), ids_,
                                               "other " + std::to_string(i)));
    others.back()->start();
  }
  a_.start();
  a_.create("In the oldest of eight sessions");
  a_.close();
  for (const auto& other : others) {
    tick();
    other->close();
  }
  EXPECT_THAT(texts(b_.start()), ElementsAre("In the oldest of eight sessions"));
}

TEST_P(WorkSessionsTest, SessionsOfOtherProjectsAreNotCarried) {
  a_.start("billing");
  a_.create("Of billing");
  a_.close();
  EXPECT_THAT(texts(b_.start("shipping")), IsEmpty());
  b_.close();
  EXPECT_THAT(texts(b_.start("billing")), ElementsAre("Of billing"));
  b_.close();
  // Both projects are in one file now, and still apart.
  EXPECT_THAT(texts(b_.start("shipping")), IsEmpty());
  EXPECT_THAT(b_.close().session.items, IsEmpty());
}

TEST_P(WorkSessionsTest, AStartTellsOfItemsThatNobodyGaveAProject) {
  a_.write(R"(["Of another program",{"id":"t-1","text":"Done","status":"resolved"}])");
  const StartedSession started = a_.start("billing");
  EXPECT_THAT(texts(started), IsEmpty());
  EXPECT_THAT(started.warnings, ElementsAre(AllOf(HasSubstr("1 open"), HasSubstr("skein"))));
  const StartedSession own = a_.start();
  EXPECT_THAT(own.warnings, IsEmpty());
  EXPECT_THAT(texts(own), ElementsAre("Of another program"));
}

TEST_P(WorkSessionsTest, ProjectStateIsExtractedAndNotListed) {
  a_.start();
  a_.close(R"({"open_threads":["PROJECT STATE: Old: OD-1done"]})");
  tick();
  a_.start();
  a_.close(R"({"open_threads":["PROJECT STATE: Skein: OD-1done OD-2~half OD-3->go","Else"]})");
  const StartedSession started = b_.start();
  ASSERT_TRUE(started.project_state);
  EXPECT_EQ(started.project_state->project, "Skein");
  EXPECT_THAT(started.project_state->done, ElementsAre("OD-1"));
  EXPECT_THAT(texts(started), ElementsAre("Else"));
  EXPECT_EQ(started.total_open, 1u);
}

TEST_P(WorkSessionsTest, TheLastSessionIsTold) {
  a_.start();
  a_.close(R"({"summary":"Half done","decisions":["Go on"]})");
  const StartedSession started = b_.start();
  ASSERT_TRUE(started.last);
  EXPECT_EQ(started.last->summary, "Half done");
  EXPECT_THAT(started.last->decisions, SizeIs(1));
}

TEST_P(WorkSessionsTest, ASessionThatWasNeverClosedIsFoundAndCanBeClosed) {
  const std::string lost = a_.start().session.id;
  a_.create("Made before the crash");
  tick();
  const StartedSession next = a_.start();
  ASSERT_THAT(next.unclosed, SizeIs(1));
  EXPECT_EQ(next.unclosed[0].id, lost);
  EXPECT_THAT(texts(next), ElementsAre("Made before the crash"));
  EXPECT_THAT(b_.start().unclosed, IsEmpty()) << "another place's";

  a_.close(R"({"session_id":")" + lost + R"("})");
  EXPECT_THAT(must(a_.sessions().unclosed()), SizeIs(1));
  CloseSession again;
  again.session_id = lost;
  EXPECT_TRUE(fails(a_.sessions().close(again), ErrorCode::kConflict, {lost, "closed"}));
}

TEST_P(WorkSessionsTest, SessionsThatWereNeverClosedAgeOutAndAreClosedTogether) {
  a_.start();
  tick();
  a_.start();
  backend_.clock().advance(hours(25));
  const std::string recent = a_.start().session.id;
  tick();
  const StartedSession next = a_.start();
  ASSERT_THAT(next.unclosed, SizeIs(1));
  EXPECT_EQ(next.unclosed[0].id, recent);
  EXPECT_EQ(next.older_unclosed, 2u);
  StartSession request;
  request.agent = "tester";
  request.session_id = next.session.id;
  request.all_unclosed = true;
  EXPECT_THAT(must(a_.sessions().start(request)).unclosed, SizeIs(3));

  const Timestamp stale{backend_.clock().now().us - kStaleSessionUs};
  EXPECT_THAT(must(a_.sessions().close_unclosed(stale)), SizeIs(2));
  EXPECT_THAT(must(a_.sessions().unclosed()), SizeIs(2));
}

TEST_P(WorkSessionsTest, ASessionThatIsKnownIsGoneOnWith) {
  StartSession request;
  request.agent = "tester";
  request.session_id = "c2d841be-fff2-4ac9-ae1e-4d604e2e4d69";
  const Timestamp began = must(a_.sessions().start(request)).session.started_at;
  a_.create("One");
  a_.close();
  backend_.clock().advance(hours(1));
  const StartedSession again = must(a_.sessions().start(request));
  EXPECT_EQ(again.session.started_at, began);
  EXPECT_THAT(texts(b_.start()), ElementsAre("One")) << "what it stored still counts";
  a_.create("Two");
  a_.close();
  EXPECT_THAT(texts(b_.start()), UnorderedElementsAre("One", "Two"));
  request.project = "other";
  EXPECT_TRUE(fails(a_.sessions().start(request), ErrorCode::kConflict, {"other", "skein"}));
}

TEST_P(WorkSessionsTest, ClosingWithoutASessionSaysSo) {
  EXPECT_TRUE(fails(a_.sessions().close({}), ErrorCode::kNotFound, {"start"}));
  CloseSession request;
  request.session_id = "unknown";
  EXPECT_TRUE(fails(a_.sessions().close(request), ErrorCode::kNotFound, {"unknown"}));
  request.session_id = "../x";
  EXPECT_TRUE(fails(a_.sessions().close(request), ErrorCode::kInvalid, {"../x"}));
  EXPECT_TRUE(fails(CloseSession::parse(R"({"summary":7})"), ErrorCode::kInvalid, {"summary"}));
  EXPECT_TRUE(
      fails(CloseSession::parse(R"({"open_threads":"x"})"), ErrorCode::kInvalid, {"array"}));
}

TEST_P(WorkSessionsTest, ARefusedClosingChangesNothing) {
  a_.start();
  CloseSession request;
  request.summary = std::string(limits::kMaxSessionNotesBytes + 1, 'x');
  EXPECT_TRUE(fails(a_.sessions().close(request), ErrorCode::kInvalid, {"262144"}));
  const CloseSession bad = must(CloseSession::parse(R"({"open_threads":["fine","bad \u0007"]})"));
  EXPECT_TRUE(fails(a_.sessions().close(bad), ErrorCode::kInvalid, {"control"}));
  EXPECT_THAT(a_.texts(), IsEmpty());
  EXPECT_THAT(must(a_.sessions().unclosed()), SizeIs(1));
}

TEST_P(WorkSessionsTest, ADamagedFileIsAWarningAndTheStoreStillServes) {
  a_.start();
  a_.create("Stored before");
  a_.close();
  a_.write("[{\"id\":");
  const StartedSession started = a_.start();
  EXPECT_THAT(started.warnings,
              ElementsAre(AllOf(HasSubstr("threads.json is not a valid item list"),
                                HasSubstr("The file was not changed"))));
  EXPECT_THAT(texts(started), ElementsAre("Stored before"));
  const ClosedSession closed = a_.close(R"({"open_threads":["Said at the end"]})");
  EXPECT_THAT(closed.warnings, SizeIs(1));
  EXPECT_EQ(a_.read(), "[{\"id\":") << "left as it is";
  EXPECT_THAT(texts(b_.start()), UnorderedElementsAre("Stored before", "Said at the end"));
}

TEST_P(WorkSessionsTest, OfManyItemsTheLiveliestAreShownAndAllAreCounted) {
  a_.start();
  const std::string quiet = a_.create("Quiet one").id;
  backend_.clock().advance(hours(24 * 10));
  a_.create("Lively one");
  StartSession request;
  request.agent = "tester";
  request.max_items = 1;
  const StartedSession started = must(a_.sessions().start(request));
  EXPECT_THAT(texts(started), ElementsAre("Lively one"));
  EXPECT_EQ(started.total_open, 2u);
}

}  // namespace
}  // namespace skein::test
