#include <algorithm>
#include <set>

#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Listing);

Manifest create_with(Store& store, std::string_view agent, std::string_view fields = "{}") {
  NewThread thread;
  thread.agent_id = agent;
  thread.fields = patch(fields);
  return must(store.create(thread));
}

ListQuery where(std::string_view key, std::string_view value) {
  ListQuery query;
  query.metadata.push_back({std::string(key), json(value)});
  return query;
}

TEST_P(Listing, AnEmptyStoreGivesAnEmptyPage) {
  ListQuery query;
  query.with_total = true;
  const ThreadPage page = must(store().list(query));
  EXPECT_THAT(page.threads, IsEmpty());
  EXPECT_EQ(page.next, "");
  EXPECT_EQ(page.total, 0U);
}

TEST_P(Listing, ShowsAllStatusesAndAgentsUnlessFiltered) {
  const ThreadId a = create_with(store(), "a").id;
  const ThreadId b = create_with(store(), "a", R"({"status":"paused"})").id;
  const ThreadId c = create_with(store(), "b", R"({"status":"closed"})").id;
  const ThreadId d = create_with(store(), "b", R"({"status":"archived"})").id;
  EXPECT_THAT(list_ids(store(), {}), UnorderedElementsAre(a, b, c, d));

  ListQuery query;
  query.agent_id = "b";
  EXPECT_THAT(list_ids(store(), query), UnorderedElementsAre(c, d));
  query.status = ThreadStatus::kArchived;
  EXPECT_THAT(list_ids(store(), query), ElementsAre(d));
  query.agent_id = "a";
  EXPECT_THAT(list_ids(store(), query), IsEmpty());
  query.agent_id = "nobody";
  query.status.reset();
  EXPECT_THAT(list_ids(store(), query), IsEmpty());
}

TEST_P(Listing, GivesManifestsAsGetDoes) {
  const ThreadId id = create_with(store(), "a", R"({"title":"t","metadata":{"a":1},"x":[1]})").id;
  must_append(store(), id, message("m"));
  const ThreadPage page = must(store().list({}));
  ASSERT_THAT(page.threads, SizeIs(1));
  EXPECT_EQ(describe(page.threads[0]), describe(get_thread(store(), id)));
  EXPECT_EQ(page.threads[0].version, get_thread(store(), id).version);
}

TEST_P(Listing, OrdersByTheTimeOfTheLastChangeNewestFirst) {
  const ThreadId first = create_with(store(), "a").id;
  clock().advance(10ms);
  const ThreadId second = create_with(store(), "a").id;
  clock().advance(10ms);
  const ThreadId third = create_with(store(), "a").id;
  EXPECT_THAT(list_ids(store(), {}), ElementsAre(third, second, first));
  clock().advance(10ms);
  must_append(store(), first, message("bump"));
  EXPECT_THAT(list_ids(store(), {}), ElementsAre(first, third, second));
  clock().advance(10ms);
  must(store().update(second, patch(R"({"title":"bump"})"), {}));
  EXPECT_THAT(list_ids(store(), {}), ElementsAre(second, first, third));
  backend_.reopen();
  EXPECT_THAT(list_ids(store(), {}), ElementsAre(second, first, third));
}

TEST_P(Listing, OrdersByCreationInBothDirections) {
  std::vector<ThreadId> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(create_with(store(), "a").id);
    clock().advance(1ms);
  }
  must_append(store(), ids[0], message("no matter"));
  ListQuery query;
  query.order = ListOrder::kCreatedOldestFirst;
  EXPECT_EQ(list_ids(store(), query), ids);
  std::reverse(ids.begin(), ids.end());
  query.order = ListOrder::kCreatedNewestFirst;
  EXPECT_EQ(list_ids(store(), query), ids);
}

TEST_P(Listing, OrdersTiesById) {
  std::vector<ThreadId> ids;
  for (int i = 0; i < 9; ++i) ids.push_back(create_with(store(), "a").id);
  std::sort(ids.begin(), ids.end());
  for (const ListOrder order : {ListOrder::kUpdatedNewestFirst, ListOrder::kCreatedNewestFirst,
                                ListOrder::kCreatedOldestFirst}) {
    ListQuery query;
    query.order = order;
    EXPECT_EQ(list_ids(store(), query), ids);
    query.limit = 2;
    EXPECT_EQ(list_all_ids(store(), query), ids) << "a page may end between equals";
  }
}

TEST_P(Listing, PagesWithoutGapsOrRepetition) {
  std::set<ThreadId> made;
  for (int i = 0; i < 23; ++i) {
    made.insert(create_with(store(), i % 3 == 0 ? "b" : "a", R"({"metadata":{"m":true}})").id);
    if (i % 4 == 0) clock().advance(1ms);
  }
  for (const ListOrder order : {ListOrder::kUpdatedNewestFirst, ListOrder::kCreatedNewestFirst,
                                ListOrder::kCreatedOldestFirst}) {
    for (const std::size_t limit : {1U, 2U, 7U, 22U, 23U, 24U, 1000U}) {
      ListQuery query = where("m", "true");
      query.order = order;
      query.limit = limit;
      const std::vector<ThreadId> all = list_all_ids(store(), query);
      EXPECT_EQ(std::set<ThreadId>(all.begin(), all.end()), made);
      EXPECT_THAT(all, SizeIs(made.size())) << "limit " << limit;
    }
  }
}

TEST_P(Listing, SaysThatThereIsNoFurtherPageAtTheEnd) {
  for (int i = 0; i < 4; ++i) create_with(store(), "a");
  ListQuery query;
  query.limit = 4;
  EXPECT_EQ(must(store().list(query)).next, "");
  query.limit = 3;
  query.after = must(store().list(query)).next;
  ASSERT_NE(query.after, "");
  const ThreadPage last = must(store().list(query));
  EXPECT_THAT(last.threads, SizeIs(1));
  EXPECT_EQ(last.next, "");
}

TEST_P(Listing, ShowsNoThreadTwiceWhileThreadsAreUpdatedBetweenPages) {
  std::vector<ThreadId> ids;
  for (int i = 0; i < 30; ++i) {
    ids.push_back(create_with(store(), "a").id);
    clock().advance(1ms);
  }
  std::set<ThreadId> seen;
  ListQuery query;
  query.limit = 4;
  std::size_t turn = 0;
  do {
    const ThreadPage page = must(store().list(query));
    for (const Manifest& manifest : page.threads) {
      EXPECT_TRUE(seen.insert(manifest.id).second) << manifest.id.str() << " twice";
    }
    query.after = page.next;
    for (int i = 0; i < 3; ++i) {
      clock().advance(1ms);
      const ThreadId id = ids[(turn += 7) % ids.size()];
      if (i == 0) {
        must(store().update(id, ManifestPatch().title(std::to_string(turn)), {}));
      } else {
        must_append(store(), id, message("bump"));
      }
    }
    create_with(store(), "a");
  } while (!query.after.empty());
}

TEST_P(Listing, GoesOnAfterACursorWhoseThreadIsGone) {
  std::vector<ThreadId> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(create_with(store(), "a").id);
    clock().advance(1ms);
  }
  ListQuery query;
  query.order = ListOrder::kCreatedOldestFirst;
  query.limit = 2;
  query.after = must(store().list(query)).next;
  must(store().remove(ids[1]));
  backend_.reopen();
  EXPECT_THAT(list_ids(store(), query), ElementsAre(ids[2], ids[3]));
}

TEST_P(Listing, CountsAllThatMatchOnWhateverPageOnRequest) {
  for (int i = 0; i < 7; ++i) create_with(store(), i < 5 ? "a" : "b");
  ListQuery query;
  query.agent_id = "a";
  query.limit = 2;
  EXPECT_FALSE(must(store().list(query)).total.has_value());
  query.with_total = true;
  const ThreadPage first = must(store().list(query));
  EXPECT_EQ(first.total, 5U);
  query.after = first.next;
  EXPECT_EQ(must(store().list(query)).total, 5U);
}

TEST_P(Listing, RefusesCursorsThatItDidNotMake) {
  for (int i = 0; i < 3; ++i) create_with(store(), "a");
  using namespace std::string_literals;
  for (const std::string& after :
       {"x"s, "0"s, "-1"s, "1,2,3"s, "' OR 1=1 --"s, "../.."s, "\0"s, "99999999999999999999999"s,
        std::string(100'000, '9'), "000000000000"s}) {
    ListQuery query;
    query.after = after;
    EXPECT_TRUE(fails(store().list(query), ErrorCode::kInvalid)) << after.substr(0, 40);
  }
}

TEST_P(Listing, RefusesACursorOfAnotherOrder) {
  for (int i = 0; i < 3; ++i) create_with(store(), "a");
  ListQuery query;
  query.limit = 1;
  query.after = must(store().list(query)).next;
  query.order = ListOrder::kCreatedOldestFirst;
  EXPECT_TRUE(fails(store().list(query), ErrorCode::kInvalid));
}

TEST_P(Listing, RefusesLimitsThatAreNone) {
  ListQuery query;
  query.limit = 0;
  EXPECT_TRUE(fails(store().list(query), ErrorCode::kInvalid));
  query.limit = limits::kMaxPageSize + 1;
  EXPECT_TRUE(
      fails(store().list(query), ErrorCode::kInvalid, {std::to_string(limits::kMaxPageSize)}));
  query.limit = limits::kMaxPageSize;
  EXPECT_TRUE(ok(store().list(query)));
}

TEST_P(Listing, FiltersByScalarMetadataOfEveryKind) {
  const ThreadId text = create_with(store(), "a", R"({"metadata":{"v":"1","w":"both"}})").id;
  const ThreadId number = create_with(store(), "a", R"({"metadata":{"v":1,"w":"both"}})").id;
  const ThreadId yes = create_with(store(), "a", R"({"metadata":{"v":true}})").id;
  const ThreadId null = create_with(store(), "a", R"({"metadata":{"v":null}})").id;
  create_with(store(), "a", R"({"metadata":{"v":[1],"nested":{"v":1}}})");
  create_with(store(), "a", R"({"metadata":{"v":{"v":1}}})");
  create_with(store(), "a");
  backend_.reopen();
  EXPECT_THAT(list_ids(store(), where("v", "\"1\"")), ElementsAre(text));
  EXPECT_THAT(list_ids(store(), where("v", "1")), ElementsAre(number));
  EXPECT_THAT(list_ids(store(), where("v", "true")), ElementsAre(yes));
  EXPECT_THAT(list_ids(store(), where("v", "null")), ElementsAre(null));
  EXPECT_THAT(list_ids(store(), where("v", "false")), IsEmpty());
  EXPECT_THAT(list_ids(store(), where("absent", "null")), IsEmpty());
  EXPECT_THAT(list_ids(store(), where("w", "\"both\"")), UnorderedElementsAre(text, number));
  ListQuery both = where("w", "\"both\"");
  both.metadata.push_back({"v", json("1")});
  both.with_total = true;
  EXPECT_THAT(list_ids(store(), both), ElementsAre(number));
  EXPECT_EQ(must(store().list(both)).total, 1U);
}

TEST_P(Listing, ComparesNumbersByValueAndStringsByContent) {
  const ThreadId one = create_with(store(), "a", R"({"metadata":{"n":1.0,"\u0061":"\u00e9"}})").id;
  const ThreadId big =
      create_with(store(), "a", R"({"metadata":{"n":12345678901234567890123}})").id;
  const ThreadId near =
      create_with(store(), "a", R"({"metadata":{"n":12345678901234567890124}})").id;
  const ThreadId zero = create_with(store(), "a", R"({"metadata":{"n":-0.0}})").id;
  for (const std::string_view value : {"1", "1.0", "1e0", "10e-1", "0.1E+1"}) {
    EXPECT_THAT(list_ids(store(), where("n", value)), ElementsAre(one)) << value;
  }
  EXPECT_THAT(list_ids(store(), where("n", "12345678901234567890123")), ElementsAre(big));
  EXPECT_THAT(list_ids(store(), where("n", "12345678901234567890124.0")), ElementsAre(near));
  EXPECT_THAT(list_ids(store(), where("n", "0")), ElementsAre(zero));
  EXPECT_THAT(list_ids(store(), where("a", R"("é")")), ElementsAre(one));
  EXPECT_THAT(list_ids(store(), where("a", R"("É")")), IsEmpty());
  EXPECT_THAT(list_ids(store(), where("A", R"("é")")), IsEmpty());
}

TEST_P(Listing, FollowsTheMetadataWhenItChanges) {
  const ThreadId id = create_with(store(), "a", R"({"metadata":{"v":1,"gone":2}})").id;
  must(store().update(id, patch(R"({"metadata":{"v":2}})"), {}));
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(list_ids(store(), where("v", "1")), IsEmpty());
    EXPECT_THAT(list_ids(store(), where("gone", "2")), IsEmpty());
    EXPECT_THAT(list_ids(store(), where("v", "2")), ElementsAre(id));
    backend_.reopen();
  }
  must(store().update(id, patch(R"({"metadata":null})"), {}));
  EXPECT_THAT(list_ids(store(), where("v", "2")), IsEmpty());
}

TEST_P(Listing, RefusesFiltersThatCannotBeApplied) {
  create_with(store(), "a", R"({"metadata":{"v":{"a":1},"w":[1]}})");
  EXPECT_TRUE(fails(store().list(where("v", R"({"a":1})")), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(store().list(where("w", "[1]")), ErrorCode::kInvalid));
  ListQuery query;
  query.metadata.push_back({"v", Json()});
  EXPECT_TRUE(fails(store().list(query), ErrorCode::kInvalid));
  query.metadata.assign(limits::kMaxFilterTerms + 1, {"v", json("1")});
  EXPECT_TRUE(
      fails(store().list(query), ErrorCode::kInvalid, {std::to_string(limits::kMaxFilterTerms)}));
  query.metadata.assign(limits::kMaxFilterTerms, {"v", json("1")});
  EXPECT_THAT(list_ids(store(), query), IsEmpty());
  query = where("\xff", "1");
  EXPECT_TRUE(fails(store().list(query), ErrorCode::kInvalid));
}

TEST_P(Listing, NeverShowsThreadsForAnAgentThatCannotExist) {
  create_with(store(), "a");
  for (const std::string_view agent : {"", "%", "a%", "a' OR '1'='1", "../a", "a/", "*", "."}) {
    ListQuery query;
    query.agent_id = agent;
    query.with_total = true;
    const Result<ThreadPage> page = store().list(query);
    if (!page.has_value()) {
      EXPECT_EQ(page.error().code, ErrorCode::kInvalid) << agent;
    } else {
      EXPECT_THAT(page->threads, IsEmpty()) << agent;
      EXPECT_EQ(page->total, 0U) << agent;
    }
  }
}

TEST_P(Listing, TakesHostileFilterKeysAndValuesLiterally) {
  const std::vector<std::string> hostile{"a') OR 1=1 --",
                                         "' OR ''='",
                                         "\"; DROP TABLE threads; --",
                                         "$.a",
                                         "$[0]",
                                         "a.b",
                                         "a\\",
                                         "%",
                                         "_",
                                         "*",
                                         "?",
                                         "{}",
                                         "[]",
                                         "\"",
                                         "'",
                                         "`",
                                         "\n",
                                         "NEAR(a b)",
                                         "a AND b",
                                         "a:b",
                                         "^a",
                                         "${a}",
                                         "\xF0\x9F\xA7\xB6",
                                         "..",
                                         "/",
                                         "\x01",
                                         "null",
                                         "true",
                                         " ",
                                         "version",
                                         "agentId"};
  create_with(store(), "a", R"({"metadata":{"a":1,"b":"x"}})");
  std::vector<ThreadId> ids;
  for (const std::string& word : hostile) {
    const std::string quoted = Json::string(word).text();
    ids.push_back(create_with(store(), "a", R"({"metadata":{)" + quoted + ":" + quoted + "}}").id);
  }
  backend_.reopen();
  for (std::size_t i = 0; i < hostile.size(); ++i) {
    const std::string value = Json::string(hostile[i]).text();
    EXPECT_THAT(list_ids(store(), where(hostile[i], value)), ElementsAre(ids[i])) << hostile[i];
    EXPECT_THAT(list_ids(store(), where(hostile[i], "1")), IsEmpty()) << hostile[i];
    EXPECT_THAT(list_ids(store(), where("a", value)), IsEmpty()) << hostile[i];
    EXPECT_THAT(list_ids(store(), where(hostile[i], "\"x\"")), IsEmpty()) << hostile[i];
  }
}

}  // namespace
}  // namespace skein::test
