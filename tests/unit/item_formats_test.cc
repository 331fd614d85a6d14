#include "work/item_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "skein/work_sessions.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

const Timestamp kNow = Timestamp::from_ms(1'769'178'652'123);

std::string json_text(std::string_view text) { return Json::string(text).text(); }

ItemList read(const std::string& array) {
  must(validate_json(array, "the test's list"));
  return read_items(array, kNow);
}

WorkItem read_one(const std::string& entry) {
  ItemList list = read("[" + entry + "]");
  EXPECT_THAT(list.items, SizeIs(1));
  return list.items.at(0);
}

// --- The table of formats ---

TEST(ItemFormats, APlainStringBecomesAnItemWithAnId) {
  const WorkItem item = read_one(R"("Fix the bug")");
  EXPECT_THAT(item.id, MatchesRegex("t-[0-9a-f]{8}"));
  EXPECT_EQ(item.text, "Fix the bug");
  EXPECT_EQ(item.status, ItemStatus::kOpen);
  EXPECT_EQ(item.created_at, kNow);
  EXPECT_EQ(read_one(R"("Fix the bug")").id, item.id) << "reading it again must not make another";
}

TEST(ItemFormats, AFullItemIsPassedThroughAsItIs) {
  const std::string json =
      R"({"id":"t-a1b2c3d4","text":"T","status":"resolved","created_at":"2026-02-09T18:12:01.097Z",)"
      R"("resolved_at":"2026-02-10T08:00:00.000Z","source_session":"s1","resolved_by_session":"s2",)"
      R"("resolution_note":"done","priority":{"level":3}})";
  EXPECT_EQ(to_json(read_one(json)), json);
}

TEST(ItemFormats, AnItemWithTheThreeFieldsOfTheTableKeepsThem) {
  const WorkItem item = read_one(R"({"id":"t-abc","text":"T","status":"open"})");
  EXPECT_EQ(item.id, "t-abc");
  EXPECT_EQ(item.text, "T");
  EXPECT_EQ(item.created_at, kNow);
}

TEST(ItemFormats, AJsonStringWithATextIsUsedDirectly) {
  const WorkItem item =
      read_one(json_text(R"({"id":"t-abc","text":"the \"text\"","status":"resolved"})"));
  EXPECT_EQ(item.id, "t-abc");
  EXPECT_EQ(item.text, "the \"text\"");
  EXPECT_EQ(item.status, ItemStatus::kResolved);
}

TEST(ItemFormats, AJsonStringWithANoteHasItForItsText) {
  const WorkItem item =
      read_one(json_text(R"({"id":"t-abc","note":"from a note","status":"open"})"));
  EXPECT_EQ(item.id, "t-abc");
  EXPECT_EQ(item.text, "from a note");
  EXPECT_EQ(item.status, ItemStatus::kOpen);
  EXPECT_TRUE(item.extra.empty());
}

TEST(ItemFormats, TheLegacyFormHasItsItemForText) {
  const WorkItem item = read_one(json_text(R"({"item":"old","context":"why"})"));
  EXPECT_EQ(item.text, "old");
  EXPECT_EQ(item.extra.text(), R"({"context":"why"})");
  EXPECT_THAT(item.id, MatchesRegex("t-[0-9a-f]{8}"));
}

TEST(ItemFormats, NoteAndItemAreTakenFromObjectsToo) {
  EXPECT_EQ(read_one(R"({"id":"t-abc","status":"open","note":"n"})").text, "n");
  EXPECT_EQ(read_one(R"({"item":"i","context":"c"})").text, "i");
  EXPECT_EQ(read_one(R"({"text":"t","note":"n"})").extra.text(), R"({"note":"n"})");
}

TEST(ItemFormats, MixedListsAreReadEntryByEntry) {
  const ItemList list = read(R"(["plain",{"id":"t-1","text":"object","status":"open"},)" +
                             json_text(R"({"id":"t-2","note":"note","status":"open"})") + "," +
                             json_text(R"({"item":"legacy","context":"c"})") + R"(,"[1,2]"])");
  std::vector<std::string> texts;
  for (const WorkItem& item : list.items) texts.push_back(item.text);
  EXPECT_THAT(texts, testing::UnorderedElementsAre("plain", "object", "note", "legacy", "[1,2]"));
}

TEST(ItemFormats, EntriesWithoutATimeKeepTheirOrder) {
  const ItemList list =
      read(R"(["Zebra","Apple",{"id":"t-2","text":"Mango","status":"open"},)" +
           json_text(R"({"id":"t-1","note":"Banana","status":"open"})") + R"(,"Cherry"])");
  std::vector<std::string> texts;
  for (const WorkItem& item : list.items) texts.push_back(item.text);
  EXPECT_THAT(texts, ElementsAre("Zebra", "Apple", "Mango", "Banana", "Cherry"));
  EXPECT_EQ(list.items.back().created_at, kNow) << "none is later than its list";
}

// --- Beyond the table ---

TEST(ItemFormats, JsonInAStringThatIsNoItemIsAText) {
  EXPECT_EQ(read_one(json_text(R"({"foo":1})")).text, R"({"foo":1})");
  EXPECT_EQ(read_one(json_text("{broken")).text, "{broken");
}

TEST(ItemFormats, EntriesThatAreNoItemsAreKeptAsTheyCame) {
  const ItemList list = read(R"([7, null, {"title":"x"}, "  ", {"text":""}, "a"])");
  EXPECT_THAT(list.items, SizeIs(1));
  const std::string written = to_json(list);
  for (const char* other : {"7", "null", R"({"title":"x"})", R"("  ")", R"({"text":""})"}) {
    EXPECT_NE(written.find(std::string("\n  ") + other), std::string::npos) << other;
  }
}

TEST(ItemFormats, FieldsOfUnexpectedKindsAreKeptUnderAnotherName) {
  const WorkItem item = read_one(
      R"({"id":12,"text":"t","status":"blocked","created_at":"yesterday","source_session":null})");
  EXPECT_THAT(item.id, MatchesRegex("t-[0-9a-f]{8}"));
  EXPECT_EQ(item.status, ItemStatus::kOpen);
  EXPECT_EQ(item.extra.text(),
            R"({"imported_id":12,"imported_status":"blocked","imported_created_at":"yesterday"})");
}

TEST(ItemFormats, AStringThatComesBackAfterItWasResolvedIsAnotherItem) {
  const std::string id = read_one(R"("Fix it")").id;
  const ItemList list =
      read(R"([{"id":")" + id +
           R"(","text":"Fix it","status":"resolved","created_at":"2026-01-01T00:00:00.000Z",)"
           R"("resolved_at":"2026-01-02T00:00:00.000Z"},"Fix it"])");
  ASSERT_THAT(list.items, SizeIs(2));
  EXPECT_EQ(list.items[1].status, ItemStatus::kOpen);
  EXPECT_NE(list.items[1].id, id);
}

TEST(ItemFormats, OneIdIsOneItemHoweverOftenItIsListed) {
  const ItemList list = read(R"([{"id":"t-1","text":"original","status":"open",)"
                             R"("created_at":"2026-01-01T00:00:00.000Z"},)"
                             R"({"id":"t-1","note":"said otherwise","status":"open"}])");
  ASSERT_THAT(list.items, SizeIs(1));
  EXPECT_EQ(list.items[0].text, "original");
  EXPECT_EQ(list.items[0].extra.text(), R"({"notes":["said otherwise"]})");
}

TEST(ItemFormats, UnwrapsAnItemWhoseTextIsAnItem) {
  const std::string inner =
      R"({"id":"t-abc","note":"the \"text\"","status":"open","created_at":"2026-01-01T00:00:00.000Z"})";
  const std::string wrapped = R"({"id":"t-99999999","text":)" + json_text(inner) +
                              R"(,"status":"open","created_at":"2026-02-01T00:00:00.000Z"})";
  for (const std::string& entry :
       {wrapped, json_text(wrapped), R"({"id":"t-1","text":)" + json_text(wrapped) + "}"}) {
    const WorkItem item = read_one(entry);
    EXPECT_EQ(item.id, "t-abc") << entry;
    EXPECT_EQ(item.text, "the \"text\"") << entry;
    EXPECT_EQ(item.created_at.str(), "2026-01-01T00:00:00.000Z") << entry;
  }
}

TEST(ItemFormats, UnwrapsOnlyAFewLevels) {
  std::string entry = R"({"text":"innermost"})";
  for (int i = 0; i < 10; ++i) entry = R"({"text":)" + json_text(entry) + "}";
  EXPECT_EQ(read_one(R"({"text":"plain"})").text, "plain");
  EXPECT_THAT(read_one(entry).text, AllOf(StartsWith("{\"text\":"), HasSubstr("innermost")));
}

TEST(ItemFormats, AWrapperThatIsResolvedResolvesWhatIsInside) {
  const WorkItem item =
      read_one(R"({"id":"t-1","text":"{\"id\":\"t-abc\",\"text\":\"inner\",\"status\":\"open\"}",)"
               R"("status":"resolved","resolution_note":"done"})");
  EXPECT_EQ(item.id, "t-abc");
  EXPECT_EQ(item.status, ItemStatus::kResolved);
  EXPECT_EQ(item.resolution_note, "done");
}

TEST(ItemFormats, TimesArePassedOnAsTheyWereWritten) {
  const std::string json =
      R"({"id":"t-1","text":"T","status":"resolved","created_at":"2026-02-09T18:12:01+01:00",)"
      R"("resolved_at":"2026-02-10T08:00:00Z"})";
  EXPECT_EQ(to_json(read_one(json)), json);
  EXPECT_EQ(read_one(json).created_at.str(), "2026-02-09T17:12:01.000Z");
}

TEST(ItemFormats, LeavesOffTheIdOfAnEarlierItem) {
  EXPECT_EQ(read_one(R"("t-489d9c6c: actual text")").text, "actual text");
  EXPECT_EQ(read_one(R"("t-bed: folding")").text, "t-bed: folding");
}

TEST(ItemFormats, TheExampleOfTheFileRoundTripsToTheByte) {
  const std::string file = R"([
  {
    "id": "t-05a7ecb6",
    "text": "Phase 2 GitMem public npm release still pending",
    "status": "open",
    "created_at": "2026-02-09T18:12:01.097Z",
    "source_session": "c2d841be-fff2-4ac9-ae1e-4d604e2e4d69"
  }
])";
  EXPECT_EQ(to_json(read(file)), file);
  EXPECT_EQ(to_json(ItemList{}), "[]");
}

TEST(ItemIds, AreTAndSomething) {
  for (const char* id : {"t-a1b2c3d4", "t-abc", "t-X_1"}) EXPECT_TRUE(ok(check_item_id(id))) << id;
  for (const std::string& id : {std::string("t-"), std::string("x-abc"), std::string("t-a/b"),
                                std::string("t-ä"), "t-" + std::string(65, 'a')}) {
    EXPECT_TRUE(fails(check_item_id(id), ErrorCode::kInvalid, {"t-"})) << id;
  }
}

// --- PROJECT STATE ---

TEST(ProjectStates, AreParsedIntoProjectDoneNotesAndNext) {
  const auto state =
      parse_project_state("PROJECT STATE: Project Name: OD-523done OD-524~note OD-525->next");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->project, "Project Name");
  EXPECT_THAT(state->done, ElementsAre("OD-523"));
  ASSERT_THAT(state->notes, SizeIs(1));
  EXPECT_EQ(state->notes[0].key, "OD-524");
  EXPECT_EQ(state->notes[0].text, "note");
  ASSERT_THAT(state->next, SizeIs(1));
  EXPECT_EQ(state->next[0].key, "OD-525");
  EXPECT_EQ(state->next[0].text, "next");
}

TEST(ProjectStates, MayHaveNotesOfSeveralWordsAndNoName) {
  const auto state =
      parse_project_state("PROJECT STATE: OD-1~waits for review OD-2->write tests OD-3");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->project, "");
  ASSERT_THAT(state->notes, SizeIs(2));
  EXPECT_EQ(state->notes[0].text, "waits for review");
  EXPECT_EQ(state->notes[1].key, "OD-3");
  EXPECT_EQ(state->next[0].text, "write tests");
  EXPECT_THAT(state->done, IsEmpty());
  EXPECT_FALSE(parse_project_state("the PROJECT STATE: x"));
  EXPECT_EQ(parse_project_state("PROJECT STATE: all quiet")->project, "all quiet");
}

TEST(ProjectStates, AreReadAsPeopleWriteThem) {
  const auto done = [](std::string_view text) { return parse_project_state(text)->done; };
  EXPECT_THAT(done("PROJECT STATE: P: OD-1done,OD-2done"), ElementsAre("OD-1", "OD-2"));
  EXPECT_THAT(done("PROJECT STATE: P: OD-1✓ OD-2 ✅ OD-3✔️"), ElementsAre("OD-1", "OD-2", "OD-3"));
  EXPECT_THAT(done("PROJECT STATE: P: OD-1Done; OD-2 DONE (OD-3 done)"),
              ElementsAre("OD-1", "OD-2", "OD-3"));
  EXPECT_THAT(done("PROJECT STATE: p: od-1done od-2✓"), ElementsAre("OD-1", "OD-2"));

  const auto state = parse_project_state("PROJECT STATE: P: OD-1→write tests, OD-2~almost");
  ASSERT_THAT(state->next, SizeIs(1));
  EXPECT_EQ(state->next[0].text, "write tests");
  EXPECT_EQ(state->notes.at(0).text, "almost");
}

TEST(ProjectStates, ANameMayHaveAColonAndANoteWordsLikeKeys) {
  EXPECT_EQ(parse_project_state("PROJECT STATE: Billing: phase 2: OD-1done")->project,
            "Billing: phase 2");
  const auto state = parse_project_state("PROJECT STATE: p: od-2~waits for phase-2 work od-3->go");
  ASSERT_THAT(state->notes, SizeIs(1));
  EXPECT_EQ(state->notes[0].text, "waits for phase-2 work");
  ASSERT_THAT(state->next, SizeIs(1));
  EXPECT_EQ(state->next[0].key, "OD-3");
}

}  // namespace
}  // namespace skein::test
