#include <set>

#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Creating);

NewThread new_thread(std::string_view agent = "agent") {
  NewThread thread;
  thread.agent_id = agent;
  return thread;
}

constexpr std::string_view kAlias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";

TEST_P(Creating, GivesANewIdAndAManifestWithAgentAndTimes) {
  const Manifest made = must(store().create(new_thread("writer")));
  EXPECT_TRUE(ok(ThreadId::parse(made.id.str())));
  EXPECT_EQ(made.agent_id, "writer");
  EXPECT_EQ(made.created_at, clock().now());
  EXPECT_EQ(made.updated_at, clock().now());
  EXPECT_EQ(made.status, ThreadStatus::kActive);
  EXPECT_EQ(made.last_seq, 0U);
  EXPECT_TRUE(made.metadata.empty());
  EXPECT_TRUE(made.extra.empty());
  EXPECT_EQ(describe(get_thread(store(), made.id)), describe(made));
  EXPECT_EQ(get_thread(store(), made.id).version, made.version);
}

TEST_P(Creating, TheSameTwiceMakesTwoThreads) {
  std::set<ThreadId> ids;
  for (int i = 0; i < 20; ++i) ids.insert(must(store().create(new_thread())).id);
  EXPECT_EQ(ids.size(), 20U);
  EXPECT_EQ(thread_count(), 20U);
}

// Says the same few numbers again and again, as bad luck would.
class RepeatingIds final : public IdSource {
 public:
  std::uint64_t next() override { return kNumbers[at_++ % kNumbers.size()]; }

 private:
  static constexpr std::array<std::uint64_t, 4> kNumbers{7, 7, 7, 0xABCDEF012345};
  std::atomic<std::size_t> at_ = 0;
};

TEST_P(Creating, TriesAnotherIdWhenARandomOneIsTaken) {
  RepeatingIds ids;
  StoreOptions options;
  options.ids = &ids;
  options.clock = &clock();
  const std::unique_ptr<Store> unlucky = backend_.persistent()
                                             ? backend_.open_another(std::move(options))
                                             : must(open_store("memory:", std::move(options)));
  const ThreadId first = must(unlucky->create(new_thread("one"))).id;
  const ThreadId second = must(unlucky->create(new_thread("two"))).id;
  EXPECT_NE(first, second);
  EXPECT_EQ(get_thread(*unlucky, first).agent_id, "one");
  EXPECT_EQ(get_thread(*unlucky, second).agent_id, "two");
}

TEST_P(Creating, TakesAGivenIdOnceOnly) {
  NewThread thread = new_thread();
  thread.id = ThreadId::from_bits(0x0123456789ab);
  thread.fields.title("first");
  EXPECT_EQ(must(store().create(thread)).id.str(), "0123456789ab");

  thread.agent_id = "other";
  thread.fields.title("second");
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kConflict, {"0123456789ab"}));
  EXPECT_EQ(get_thread(store(), *thread.id).title, "first");
  EXPECT_EQ(get_thread(store(), *thread.id).agent_id, "agent");
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Creating, TakesTheLowestAndTheHighestId) {
  for (const std::uint64_t bits : {0ULL, 0xFFFFFFFFFFFFULL, 0x800000000000ULL}) {
    NewThread thread = new_thread();
    thread.id = ThreadId::from_bits(bits);
    thread.events = {message("here")};
    EXPECT_TRUE(ok(store().create(thread)));
  }
  backend_.reopen();
  EXPECT_EQ(thread_count(), 3U);
  EXPECT_THAT(read_seqs(store(), ThreadId::from_bits(0)), ElementsAre(1));
  EXPECT_THAT(read_seqs(store(), ThreadId::from_bits(0xFFFFFFFFFFFFULL)), ElementsAre(1));
}

TEST_P(Creating, KeepsAnAliasInLowerCaseAndRefusesATakenOne) {
  NewThread thread = new_thread();
  thread.alias = "6F1C2F0E-9A57-4B0E-8F5E-0C1D2E3F4A5B";
  EXPECT_EQ(must(store().create(thread)).alias, kAlias);

  NewThread again = new_thread("other");
  again.alias = kAlias;
  EXPECT_TRUE(fails(store().create(again), ErrorCode::kConflict, {kAlias}));
  backend_.reopen();
  EXPECT_TRUE(fails(store().create(again), ErrorCode::kConflict, {kAlias}));
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Creating, SaysThatAnAliasIsTakenBeforeItLooksAtBases) {
  NewThread thread = new_thread();
  thread.alias = kAlias;
  must(store().create(thread));
  thread.events = {with_base(message("from itself"), 1)};
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kConflict, {kAlias}));
}

TEST_P(Creating, RefusesAnAliasThatIsNoUuidOrIsTheFormOfAnId) {
  for (const std::string_view alias :
       {"", "me", "6f1c2f0e9a574b0e8f5e0c1d2e3f4a5b", "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5",
        "{6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b}", "zf1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b",
        "00000000-0000-4000-8000-0123456789ab"}) {
    NewThread thread = new_thread();
    thread.alias = alias;
    EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid, {alias})) << alias;
  }
  EXPECT_EQ(thread_count(), 0U);
}

TEST_P(Creating, RefusesAgentIdsThatBreakTheRule) {
  using namespace std::string_literals;
  for (const std::string& agent : {""s, "."s, ".."s, ".hidden"s, "a/b"s, "../a"s, "a\\b"s, "a b"s,
                                   "a\0b"s, "a\n"s, "ä"s, "usage.jsonl"s, "a%2fb"s, "a:b"s, "*"s,
                                   "'"s, std::string(65, 'a'), std::string(300, 'a')}) {
    EXPECT_TRUE(fails(store().create(new_thread(agent)), ErrorCode::kInvalid)) << agent;
  }
  EXPECT_EQ(thread_count(), 0U);
  EXPECT_THAT(whole_feed(), IsEmpty());
}

TEST_P(Creating, TakesEveryAgentIdThatMeetsTheRuleAndTellsThemApart) {
  const std::vector<std::string> agents{
      "a",  "A",   "_",     "-", "-rf",     "a.b",           "a..b",
      "a.", "CON", "usage", "0", "threads", "records.jsonl", std::string(64, 'z')};
  for (const std::string& agent : agents) must(store().create(new_thread(agent)));
  backend_.reopen();
  for (const std::string& agent : agents) {
    ListQuery query;
    query.agent_id = agent;
    const ThreadPage page = must(store().list(query));
    ASSERT_THAT(page.threads, SizeIs(1)) << agent;
    EXPECT_EQ(page.threads[0].agent_id, agent);
  }
}

TEST_P(Creating, SetsTheFieldsThatWereGiven) {
  NewThread thread = new_thread();
  thread.fields = patch(R"({
    "sessionId": "s-1", "taskId": "task-9", "title": "On knots", "status": "paused",
    "metadata": {"topic": "knots", "depth": 3}, "summary": "short", "resolution": "done",
    "closedAt": "2026-01-24T00:00:00.000Z", "pins": [1, 5, 2],
    "archive": {"at": "2026-01-25T00:00:00.000Z", "retentionDays": 30, "reason": "old"},
    "channel": "telegram", "custom": {"deep": [1, {"x": null}]}})");
  const Manifest made = must(store().create(thread));
  backend_.reopen();
  const Manifest found = get_thread(store(), made.id);
  EXPECT_EQ(describe(found), describe(made));
  EXPECT_EQ(found.session_id, "s-1");
  EXPECT_EQ(found.task_id, "task-9");
  EXPECT_EQ(found.title, "On knots");
  EXPECT_EQ(found.status, ThreadStatus::kPaused);
  EXPECT_TRUE(same_json(found.metadata, json(R"({"depth":3,"topic":"knots"})")));
  EXPECT_EQ(found.summary, "short");
  EXPECT_EQ(found.resolution, "done");
  EXPECT_EQ(found.closed_at.value_or(Timestamp{}).str(), "2026-01-24T00:00:00.000Z");
  EXPECT_THAT(found.pins, ElementsAre(1, 5, 2));
  ASSERT_TRUE(found.archive.has_value());
  EXPECT_EQ(found.archive->at.str(), "2026-01-25T00:00:00.000Z");
  EXPECT_EQ(found.archive->retention_days, 30);
  EXPECT_EQ(found.archive->reason, "old");
  EXPECT_TRUE(
      same_json(found.extra, json(R"({"channel":"telegram","custom":{"deep":[1,{"x":null}]}})")));
}

TEST_P(Creating, LetsAnImporterSetTheTimes) {
  NewThread thread = new_thread();
  thread.fields = patch(R"({"createdAt": "2020-01-01T00:00:00.000001Z",
                            "updatedAt": "2020-02-01T01:00:00+01:00"})");
  const Manifest made = must(store().create(thread));
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), made.id).created_at.str(), "2020-01-01T00:00:00.000001Z");
  EXPECT_EQ(get_thread(store(), made.id).updated_at.str(), "2020-02-01T00:00:00.000Z");
}

TEST_P(Creating, LetsAnImporterSetTheParentOfWhatWasAForkElsewhere) {
  NewThread thread = new_thread();
  thread.fields = patch(R"({"parent": {"threadId": "0123456789ab", "seq": 7}})");
  const ThreadId id = must(store().create(thread)).id;
  backend_.reopen();
  const Manifest found = get_thread(store(), id);
  ASSERT_TRUE(found.parent.has_value());
  EXPECT_EQ(found.parent->thread.str(), "0123456789ab");
  EXPECT_EQ(found.parent->seq, 7U);
  thread.from = Parent{id, 0};
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid, {"parent"}));
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Creating, RefusesFieldsThatHaveAPlaceOfTheirOwn) {
  for (const std::string_view fields :
       {R"({"agentId": "other"})", R"({"threadId": "0123456789ab"})",
        R"({"alias": "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b"})"}) {
    NewThread thread = new_thread();
    thread.fields = patch(fields);
    EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid)) << fields;
  }
  EXPECT_EQ(thread_count(), 0U);
}

TEST_P(Creating, RefusesFieldsThatBreakTheSchema) {
  for (const std::string_view fields :
       {R"({"title": 5})", R"({"sessionId": ["s"]})", R"({"taskId": {}})", R"({"status": "open"})",
        R"({"status": 1})", R"({"metadata": []})", R"({"metadata": "x"})",
        R"({"createdAt": "yesterday"})", R"({"updatedAt": 12})", R"({"closedAt": "2026-13-01"})",
        R"({"summary": false})", R"({"resolution": 1})", R"({"pins": [-1]})", R"({"pins": ["1"]})",
        R"({"pins": {}})", R"({"pins": [1.5]})", R"({"archive": "old"})",
        R"({"archive": {"at": "soon"}})"}) {
    NewThread thread = new_thread();
    thread.fields = patch(fields);
    EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid)) << fields;
  }
  EXPECT_EQ(thread_count(), 0U);
  EXPECT_THAT(whole_feed(), IsEmpty());
}

TEST_P(Creating, AppendsTheFirstEvents) {
  NewThread thread = new_thread();
  thread.events = {message("one"), tool_use("look", R"({"at":"it"})"), assistant_text("three")};
  const Manifest made = must(store().create(thread));
  EXPECT_EQ(made.last_seq, 3U);
  backend_.reopen();
  const std::vector<Event> events = read_all(store(), made.id);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].timestamp, clock().now());
  EXPECT_STREQ(type_name(events[1]), "tool_use");
  EXPECT_EQ(events[2].seq, 3U);
  EXPECT_EQ(must_append(store(), made.id, message("four")), 4U);
}

TEST_P(Creating, TakesTheLatestTimeOfItsEventsAsUpdated) {
  NewThread thread = new_thread();
  thread.fields =
      patch(R"({"createdAt": "2020-01-01T00:00:00Z", "updatedAt": "2020-01-01T00:00:00Z"})");
  thread.events = {message("one"), message("two")};
  thread.events[0].timestamp = must(Timestamp::parse("2021-06-01T00:00:00Z"));
  thread.events[1].timestamp = must(Timestamp::parse("2021-05-01T00:00:00Z"));
  const Manifest made = must(store().create(thread));
  EXPECT_EQ(made.updated_at.str(), "2021-06-01T00:00:00.000Z");
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), made.id).updated_at.str(), "2021-06-01T00:00:00.000Z");
}

TEST_P(Creating, WithOneBadEventMakesNothing) {
  NewThread thread = new_thread();
  thread.id = ThreadId::from_bits(5);
  thread.alias = kAlias;
  thread.events = {message("fine"), message("\xff\xfe")};
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid));
  thread.events = {message("fine"), with_base(message("from the future"), 2)};
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid));

  EXPECT_EQ(thread_count(), 0U);
  EXPECT_THAT(whole_feed(), IsEmpty());
  thread.events.pop_back();
  EXPECT_TRUE(ok(store().create(thread))) << "neither the id nor the alias may be taken";
}

TEST_P(Creating, RemembersTheKeysOfItsFirstEvents) {
  const Manifest made = create_thread(store(), "agent", {with_key(message("one"), "k")});
  backend_.reopen();
  const Appended again = must(append_one(store(), made.id, with_key(message("one"), "k")));
  EXPECT_EQ(again.seq, 1U);
  EXPECT_TRUE(again.repeated);
  EXPECT_TRUE(fails(append_one(store(), made.id, with_key(message("two"), "k")),
                    ErrorCode::kConflict, {"k"}));
}

TEST_P(Creating, RefusesManifestsOverTheLimit) {
  NewThread thread = new_thread();
  thread.fields.metadata(
      json(R"({"big":")" + std::string(limits::kMaxMetadataBytes, 'x') + R"("})"));
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxMetadataBytes)}));

  thread = new_thread();
  thread.fields.set("other", std::string(limits::kMaxManifestBytes, 'x'));
  EXPECT_TRUE(fails(store().create(thread), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxManifestBytes)}));
  EXPECT_EQ(thread_count(), 0U);
}

}  // namespace
}  // namespace skein::test
