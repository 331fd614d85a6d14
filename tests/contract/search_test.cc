#include "contract/recall_fixture.h"

namespace skein::test {
namespace {

SKEIN_RECALL_ON_EVERY_BACKEND(Search);

TEST_P(Search, FindsTheBestMessageOfEachThreadBestFirst) {
  thread_with({"The kiln broke", "Was it the kiln's door?", "Yes, the kiln"});
  thread_with({"A kiln costs much"});
  thread_with({"Nothing to do with it"});
  backfill();
  const SearchAnswer answer = search("kiln");
  EXPECT_THAT(answer.results, SizeIs(2));
  EXPECT_GE(answer.results[0].score, answer.results[1].score);
  EXPECT_NE(answer.results[0].thread, answer.results[1].thread);
}

TEST_P(Search, SaysWhereAndWhenAndWhy) {
  const Manifest thread = thread_with({"We chose the blue tiles"});
  must(store().update(thread.id, ManifestPatch().title("Bathroom"), {}));
  backfill();
  const SearchAnswer answer = search("Which tiles?");
  ASSERT_THAT(answer.results, SizeIs(1));
  const SearchResult& result = answer.results[0];
  EXPECT_EQ(result.thread, thread.id);
  EXPECT_EQ(result.agent_id, "agent");
  EXPECT_EQ(result.title, "Bathroom");
  EXPECT_EQ(result.seq, 1u);
  EXPECT_EQ(result.timestamp, clock().now());
  const SearchReasons& why = result.reasons;
  EXPECT_NEAR(result.score,
              why.words + why.meaning + why.surroundings + why.length + why.speaker + why.date +
                  why.recency,
              1e-5);
  EXPECT_TRUE(answer.used_words);
  EXPECT_FALSE(answer.used_vectors);
  EXPECT_THAT(answer.note, testing::HasSubstr("no model"));
}

TEST_P(Search, ShowsTheMessagesAroundAMatch) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back("filler number " + std::to_string(i));
  texts[10] = "the needle";
  const Manifest thread = thread_with(texts);
  must_append(store(), thread.id, tool_use("needle"));
  backfill();
  SearchAnswer answer = search("needle");
  ASSERT_THAT(answer.results, SizeIs(1));
  ASSERT_THAT(answer.results[0].messages, SizeIs(7));
  EXPECT_EQ(answer.results[0].messages[0].seq, 8u);
  EXPECT_EQ(answer.results[0].messages[3].text, "the needle");
  EXPECT_TRUE(answer.results[0].messages[3].match);
  EXPECT_EQ(answer.results[0].messages[3].role, Role::kUser);
  EXPECT_EQ(answer.results[0].messages[6].seq, 14u);
  SearchOptions narrow = of_agent();
  narrow.context = 0;
  EXPECT_THAT(search("needle", narrow).results[0].messages, SizeIs(1));
}

TEST_P(Search, LooksAtUserAndAssistantMessagesOnly) {
  const Manifest thread = create_thread(store());
  must_append(store(), thread.id, message("platypus in the rules", Role::kSystem));
  must_append(store(), thread.id, message("platypus in a tool", Role::kTool));
  must_append(store(), thread.id, tool_use("platypus", R"({"platypus":true})"));
  must_append(store(), thread.id, assistant_text("platypus thoughts"));
  EXPECT_EQ(backfill().embedded, 0u);
  EXPECT_THAT(found("platypus"), IsEmpty());
  must_append(store(), thread.id, message("platypus at last", Role::kAssistant));
  EXPECT_EQ(backfill().embedded, 1u);
  const SearchAnswer answer = search("platypus");
  EXPECT_THAT(matches(answer), ElementsAre("platypus at last"));
  EXPECT_THAT(answer.results[0].messages, SizeIs(1));
}

TEST_P(Search, CoversAllAgentsUnlessSomeAreNamed) {
  thread_with({"walrus of one"}, "one");
  thread_with({"walrus of two"}, "two");
  thread_with({"walrus of three"}, "three");
  backfill();
  const SearchAnswer all = search("walrus", {});
  EXPECT_THAT(matches(all),
              UnorderedElementsAre("walrus of one", "walrus of two", "walrus of three"));
  EXPECT_TRUE(all.all_agents);
  EXPECT_THAT(all.agents, ElementsAre("one", "three", "two"));
  EXPECT_EQ(all.agent_count, 3u);
  EXPECT_EQ(all.searched, 3u);
  EXPECT_THAT(matches(search("walrus", of_agent("one"))), ElementsAre("walrus of one"));
  EXPECT_THAT(matches(search("walrus", of_agent("nobody"))), IsEmpty());
  SearchOptions some;
  some.agents = {"two", "one", "two", "nobody"};
  const SearchAnswer of_some = search("walrus", some);
  EXPECT_THAT(matches(of_some), UnorderedElementsAre("walrus of one", "walrus of two"));
  EXPECT_FALSE(of_some.all_agents);
  EXPECT_THAT(of_some.agents, ElementsAre("nobody", "one", "two"));
  EXPECT_EQ(of_some.searched, 2u);
  some.agents.emplace();
  EXPECT_TRUE(fails(recall().search("walrus", some), ErrorCode::kInvalid, {"agent"}));
  some.agents->emplace_back("../x");
  EXPECT_TRUE(fails(recall().search("walrus", some), ErrorCode::kInvalid));
}

TEST_P(Search, OfSomeAgentsFollowsWhatIsIndexedLater) {
  thread_with({"narwhal of one"}, "one");
  thread_with({"narwhal of two"}, "two");
  backfill();
  SearchOptions some;
  some.agents = {"one", "new"};
  EXPECT_THAT(matches(search("narwhal", some)), ElementsAre("narwhal of one"));
  const Manifest added = thread_with({"narwhal of new", "an answer"}, "new");
  EXPECT_EQ(search("narwhal", some).not_indexed, 2u);
  thread_with({"narwhal of two again"}, "two");
  EXPECT_EQ(search("narwhal", some).not_indexed, 2u);
  EXPECT_EQ(search("narwhal", {}).not_indexed, 3u);
  backfill();
  EXPECT_EQ(search("narwhal", some).not_indexed, 0u);
  EXPECT_THAT(matches(search("narwhal", some)),
              UnorderedElementsAre("narwhal of one", "narwhal of new"));
  some.status = ThreadStatus::kPaused;
  EXPECT_THAT(matches(search("narwhal", some)), IsEmpty());
  must(store().update(added.id, ManifestPatch().status(ThreadStatus::kPaused), {}));
  EXPECT_THAT(matches(search("narwhal", some)), ElementsAre("narwhal of new"));
}

TEST_P(Search, RanksMessagesOfSeveralAgentsTogether) {
  // "deploy" is rare in the messages of "few" and common in all.
  for (int i = 0; i < 20; ++i) thread_with({"deploy number " + std::to_string(i)}, "many");
  thread_with({"deploy the sandpiper"}, "few");
  thread_with({"nothing of it"}, "few");
  thread_with({"the sandpiper"}, "other");
  backfill();
  const SearchAnswer answer = search("deploy sandpiper", {});
  ASSERT_THAT(answer.results, SizeIs(5));
  EXPECT_EQ(matches(answer)[0], "deploy the sandpiper");
  EXPECT_EQ(matches(answer)[1], "the sandpiper");
  for (std::size_t i = 1; i < answer.results.size(); ++i) {
    EXPECT_GE(answer.results[i - 1].score, answer.results[i].score);
  }
}

TEST_P(Search, OfAllAgentsPutsTheNewerOfEqualScoresFirst) {
  for (const char* agent : {"b", "a", "c"}) {
    thread_with({"the same plover"}, agent);
    clock().advance(std::chrono::minutes(1));
  }
  backfill();
  const SearchAnswer answer = search("plover", {});
  ASSERT_THAT(answer.results, SizeIs(3));
  EXPECT_EQ(answer.results[0].agent_id, "c");
  EXPECT_EQ(answer.results[1].agent_id, "a");
  EXPECT_EQ(answer.results[2].agent_id, "b");
}

TEST_P(Search, SaysHowManyMessagesAreNotIndexed) {
  EXPECT_EQ(search("anything").not_indexed, 0u);
  const Manifest thread = thread_with({"first", "second"});
  EXPECT_EQ(search("anything").not_indexed, 2u);
  backfill();
  EXPECT_EQ(search("anything").not_indexed, 0u);
  must_append(store(), thread.id, message("third"));
  must_append(store(), thread.id, tool_use("no message"));
  thread_with({"of another agent"}, "other");
  const SearchAnswer answer = search("third");
  EXPECT_EQ(answer.not_indexed, 1u);
  EXPECT_TRUE(answer.not_indexed_is_exact);
  EXPECT_THAT(answer.results, IsEmpty());  // search never indexes by itself
  backfill("agent");
  EXPECT_EQ(search("third").not_indexed, 0u);
  EXPECT_EQ(search("x", of_agent("other")).not_indexed, 1u);
}

TEST_P(Search, FiltersByWhatTheStoreSaysNow) {
  const Manifest active = thread_with({"heron one"});
  const Manifest paused = thread_with({"heron two"});
  backfill();
  must(store().update(paused.id, ManifestPatch().status(ThreadStatus::kPaused), {}));
  must(store().update(active.id, patch(R"({"metadata":{"tier":"gold","n":1}})"), {}));
  SearchOptions options = of_agent();
  options.status = ThreadStatus::kPaused;
  EXPECT_THAT(matches(search("heron", options)), ElementsAre("heron two"));
  options = of_agent();
  options.metadata = {{"tier", json("\"gold\"")}, {"n", json("1.0")}};
  EXPECT_THAT(matches(search("heron", options)), ElementsAre("heron one"));
  options.metadata = {{"tier", json("\"lead\"")}};
  EXPECT_THAT(matches(search("heron", options)), IsEmpty());
  options.metadata = {{"tier", json("{}")}};
  EXPECT_TRUE(fails(recall().search("heron", options), ErrorCode::kInvalid));
}

TEST_P(Search, FiltersByTimeAndRole) {
  const Timestamp before = clock().now();
  thread_with({"early swan", "early swan, too"});
  clock().advance(std::chrono::hours(1));
  const Timestamp between = clock().now();
  thread_with({"late swan", "late swan, too"});
  backfill();
  SearchOptions options = of_agent();
  options.since = between;
  EXPECT_THAT(matches(search("swan", options)), ElementsAre("late swan"));
  options = of_agent();
  options.until = between;
  options.roles = {Role::kAssistant};
  EXPECT_THAT(matches(search("swan", options)), ElementsAre("early swan, too"));
  options.until = before;
  EXPECT_THAT(matches(search("swan", options)), IsEmpty());
  options.roles = {Role::kTool};
  EXPECT_TRUE(fails(recall().search("swan", options), ErrorCode::kInvalid, {"tool"}));
}

TEST_P(Search, GivesSeveralResultsOfAThreadIfAsked) {
  thread_with({"owl", "owl", "owl", "owl"});
  backfill();
  SearchOptions options = of_agent();
  EXPECT_THAT(search("owl", options).results, SizeIs(1));
  options.per_thread = 3;
  EXPECT_THAT(search("owl", options).results, SizeIs(3));
  options.limit = 2;
  EXPECT_THAT(search("owl", options).results, SizeIs(2));
}

TEST_P(Search, NeverShowsAThreadThatIsGone) {
  const Manifest gone = thread_with({"ibis here"});
  thread_with({"ibis there"});
  backfill();
  EXPECT_THAT(found("ibis"), SizeIs(2));
  must(store().remove(gone.id));
  EXPECT_THAT(found("ibis"), ElementsAre("ibis there"));  // though the index still has it
  EXPECT_EQ(backfill().cleaned, 1u);
  EXPECT_THAT(found("ibis"), ElementsAre("ibis there"));
  EXPECT_EQ(search("ibis").searched, 1u);
}

TEST_P(Search, FollowsTheCurrentPathOfAThread) {
  const Manifest thread = thread_with({"start", "crane one", "crane two"});
  backfill();
  EXPECT_THAT(found("crane"), SizeIs(1));
  must_append(store(), thread.id, with_base(message("heron instead"), 1));
  const BackfillResult turned = backfill();
  EXPECT_EQ(turned.embedded, 1u);
  EXPECT_EQ(turned.cleaned, 2u);
  EXPECT_THAT(found("crane"), IsEmpty());
  EXPECT_THAT(found("heron"), ElementsAre("heron instead"));
  // And back to what was left behind.
  must_append(store(), thread.id, with_base(message("crane again"), 3));
  const BackfillResult back = backfill();
  EXPECT_EQ(back.embedded, 3u);
  EXPECT_EQ(back.cleaned, 1u);
  EXPECT_THAT(found("heron"), IsEmpty());
  SearchOptions options = of_agent();
  options.per_thread = 10;
  EXPECT_EQ(search("crane", options).searched, 4u);
}

TEST_P(Search, FindsWhatAForkSharesWithItsParentOnce) {
  Threads threads(store());
  const Manifest parent = thread_with({"stork", "an answer"});
  const Manifest fork = must(threads.fork(parent.id.str(), 2));
  must_append(store(), fork.id, message("egret in the fork"));
  EXPECT_EQ(backfill().embedded, 3u);
  ASSERT_THAT(search("stork").results, SizeIs(1));
  EXPECT_EQ(search("stork").results[0].thread, parent.id);
  // The parent's last message is what the fork's first follows.
  EXPECT_THAT(search("egret").results[0].messages, SizeIs(3));
  // The fork outlives its parent, with what they shared.
  must(store().remove(parent.id));
  const BackfillResult result = backfill();
  EXPECT_EQ(result.embedded, 2u);
  EXPECT_EQ(result.cleaned, 2u);
  ASSERT_THAT(search("stork").results, SizeIs(1));
  EXPECT_EQ(search("stork").results[0].thread, fork.id);
}

TEST_P(Search, KeepsWhatAForkHasAndItsParentLeftBehind) {
  Threads threads(store());
  const Manifest parent = thread_with({"start", "kestrel"});
  const Manifest fork = must(threads.fork(parent.id.str(), 2));
  backfill();
  must_append(store(), parent.id, with_base(message("another way"), 1));
  EXPECT_EQ(backfill().embedded, 2u);
  ASSERT_THAT(search("kestrel").results, SizeIs(1));
  EXPECT_EQ(search("kestrel").results[0].thread, fork.id);
}

TEST_P(Search, KnowsWhoSpeaksByTheNameInTheMetadata) {
  const auto said = [](std::string_view name, std::string_view text) {
    return with_metadata(message(text), "{\"name\":\"" + std::string(name) + "\"}");
  };
  create_thread(store(), "agent", {said("Ana", "I keep bees")});
  create_thread(store(), "agent", {said("Bo", "I keep bees, and bees, and more bees")});
  backfill();
  const SearchAnswer answer = search("Does Ana keep bees?");
  EXPECT_EQ(matches(answer)[0], "I keep bees");
  EXPECT_EQ(answer.results[0].messages[0].speaker, "Ana");
  EXPECT_GT(answer.results[0].reasons.speaker, 0);
}

TEST_P(Search, TakesEveryCharacterAsText) {
  thread_with({"pelican OR 1=1 -- \"quoted\" (text) * NEAR/2 col:val ^start {set} %_"});
  thread_with({"unrelated"});
  backfill();
  for (const std::string_view query :
       {"pelican\"", "pelican*", "(pelican", "pelican OR unrelated'--", "pelican NEAR/2 x",
        "val:pelican", "\xF0\x9F\x90\xA6 pelican", "pelican\\", "{pelican}", "pelican AND"}) {
    EXPECT_THAT(search(query).results, testing::Not(IsEmpty())) << query;
  }
  EXPECT_THAT(found("%"
                    "x_nothing_%"),
              IsEmpty());
  EXPECT_THAT(found("*unknownword*"), IsEmpty());
}

TEST_P(Search, RefusesWhatItsLimitsSay) {
  EXPECT_TRUE(fails(recall().search("", of_agent()), ErrorCode::kInvalid, {"word"}));
  EXPECT_TRUE(fails(recall().search(" ?! ", of_agent()), ErrorCode::kInvalid, {"word"}));
  EXPECT_TRUE(fails(recall().search("a\xFFz", of_agent()), ErrorCode::kInvalid, {"UTF-8"}));
  const std::string long_query(limits::kMaxQueryBytes + 1, 'a');
  EXPECT_TRUE(fails(recall().search(long_query, of_agent()), ErrorCode::kInvalid, {"16384"}));
  SearchOptions options = of_agent();
  options.limit = 0;
  EXPECT_TRUE(fails(recall().search("a", options), ErrorCode::kInvalid, {"limit"}));
  options.limit = limits::kMaxSearchResults + 1;
  EXPECT_TRUE(fails(recall().search("a", options), ErrorCode::kInvalid, {"limit"}));
  options = of_agent();
  options.context = limits::kMaxSearchContext + 1;
  EXPECT_TRUE(fails(recall().search("a", options), ErrorCode::kInvalid, {"context"}));
  EXPECT_TRUE(fails(recall().search("a", of_agent("../x")), ErrorCode::kInvalid));
  const std::string longest(limits::kMaxQueryBytes, 'a');
  EXPECT_TRUE(ok(recall().search(longest, of_agent())));
}

TEST_P(Search, FindsMessagesWithNulsAndOddCharacters) {
  thread_with(
      {std::string("before\0after cormorant", 22), "\xE2\x80\x8F cormorant \xF0\x9F\xA6\x86"});
  backfill();
  EXPECT_THAT(found("cormorant"), SizeIs(1));
  EXPECT_THAT(found("after"), SizeIs(1));
}

TEST_P(Search, IsOfEqualScoresTheNewerFirst) {
  for (int i = 0; i < 3; ++i) {
    thread_with({"the same gull"});
    clock().advance(std::chrono::minutes(1));
  }
  backfill();
  const SearchAnswer answer = search("gull");
  ASSERT_THAT(answer.results, SizeIs(3));
  EXPECT_GT(answer.results[0].timestamp, answer.results[1].timestamp);
  EXPECT_GT(answer.results[1].timestamp, answer.results[2].timestamp);
}

}  // namespace
}  // namespace skein::test
