#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Updating);

TEST_P(Updating, MergesFieldByFieldAndReplacesEachWhole) {
  NewThread thread;
  thread.agent_id = "agent";
  thread.fields = patch(R"({"title": "old", "taskId": "t", "pins": [1, 2, 3],
                            "metadata": {"a": 1, "b": 2}, "channel": "x"})");
  const ThreadId id = must(store().create(thread)).id;
  clock().advance(5s);
  const Manifest updated =
      must(store().update(id, patch(R"({"title": "new", "metadata": {"b": 3}, "pins": [9]})"), {}));
  backend_.reopen();
  const Manifest found = get_thread(store(), id);
  EXPECT_EQ(describe(found), describe(updated));
  EXPECT_EQ(found.version, updated.version);
  EXPECT_EQ(found.title, "new");
  EXPECT_EQ(found.task_id, "t");
  EXPECT_TRUE(same_json(found.metadata, json(R"({"b":3})")));
  EXPECT_THAT(found.pins, ElementsAre(9));
  EXPECT_TRUE(same_json(found.extra, json(R"({"channel":"x"})")));
  EXPECT_EQ(found.updated_at, clock().now());
}

TEST_P(Updating, ClearsAFieldByNull) {
  NewThread thread;
  thread.agent_id = "agent";
  thread.fields = patch(R"({"title": "t", "sessionId": "s", "metadata": {"a": 1}, "pins": [1],
      "summary": "s", "archive": {"at": "2026-01-25T00:00:00Z"}, "status": "closed",
      "channel": "x", "other": 1})");
  const ThreadId id = must(store().create(thread)).id;
  must(store().update(id, patch(R"({"title": null, "sessionId": null, "metadata": null,
      "pins": null, "summary": null, "archive": null, "status": null, "channel": null})"),
                      {}));
  backend_.reopen();
  const Manifest found = get_thread(store(), id);
  EXPECT_FALSE(found.title || found.session_id || found.summary || found.archive);
  EXPECT_TRUE(found.metadata.empty());
  EXPECT_THAT(found.pins, IsEmpty());
  EXPECT_EQ(found.status, ThreadStatus::kActive);
  EXPECT_TRUE(same_json(found.extra, json(R"({"other":1})")));
}

TEST_P(Updating, ThatChangesSomethingGivesANewTimeAndVersion) {
  const Manifest before = create_thread(store());
  clock().advance(1s);
  const Manifest after = must(store().update(before.id, patch(R"({"title":"x"})"), {}));
  EXPECT_GT(after.version, before.version);
  EXPECT_EQ(after.updated_at, clock().now());
  EXPECT_EQ(after.created_at, before.created_at);
}

TEST_P(Updating, ThatChangesNothingLeavesTimeVersionAndFeedAlone) {
  const ThreadId id = create_thread(store()).id;
  must(store().update(id, patch(R"({"title":"x","metadata":{"a":[1]},"unknown":{"z":1}})"), {}));
  const Manifest before = get_thread(store(), id);
  const std::vector<std::string> feed = whole_feed();
  clock().advance(1s);
  for (const std::string_view same :
       {R"({})", R"({"title":"x"})", R"({"metadata":{"a":[1]}})", R"({"unknown":{"z":1}})",
        R"({"summary":null})", R"({"never seen":null})", R"({"status":"active"})"}) {
    const Manifest after = must(store().update(id, patch(same), {}));
    EXPECT_EQ(describe(after), describe(before)) << same;
    EXPECT_EQ(after.version, before.version) << same;
  }
  EXPECT_EQ(whole_feed(), feed);
}

TEST_P(Updating, NeverTakesUpdatedAtBackwards) {
  const Manifest before = create_thread(store());
  clock().set_wall_by(-1h);
  const Manifest after = must(store().update(before.id, patch(R"({"title":"x"})"), {}));
  EXPECT_EQ(after.updated_at, before.updated_at);
  EXPECT_GT(after.version, before.version);
  must_append(store(), before.id, message("late"));
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), before.id).updated_at, before.updated_at);
}

TEST_P(Updating, AnUnknownThreadIsRefused) {
  EXPECT_TRUE(fails(store().update(ThreadId::from_bits(7), patch(R"({"title":"x"})"), {}),
                    ErrorCode::kNotFound, {"000000000007"}));
  EXPECT_EQ(thread_count(), 0U);
}

TEST_P(Updating, RefusesWhatIsNotTheCallersToChange) {
  const Manifest before = create_thread(store());
  for (const std::string_view fields :
       {R"({"threadId":"0123456789ab"})", R"({"agentId":"other"})", R"({"agentId":"agent"})",
        R"({"createdAt":"2020-01-01T00:00:00Z"})", R"({"updatedAt":"2020-01-01T00:00:00Z"})",
        R"({"parent":{"threadId":"0123456789ab","seq":0}})", R"({"parent":null})",
        R"({"alias":"6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b"})",
        R"({"title":"fine","agentId":"not"})"}) {
    EXPECT_TRUE(fails(store().update(before.id, patch(fields), {}), ErrorCode::kInvalid)) << fields;
  }
  EXPECT_EQ(describe(get_thread(store(), before.id)), describe(before));
  EXPECT_EQ(get_thread(store(), before.id).version, before.version);
}

TEST_P(Updating, RefusesAResultThatBreaksTheSchemaAndLeavesTheManifest) {
  const Manifest before = create_thread(store());
  for (const std::string_view fields :
       {R"({"title":5})", R"({"sessionId":{}})", R"({"status":"done"})", R"({"metadata":7})",
        R"({"pins":[0.5]})", R"({"archive":[]})", R"({"closedAt":"later"})", R"({"summary":[]})",
        R"({"title":"fine","metadata":"not"})"}) {
    EXPECT_TRUE(fails(store().update(before.id, patch(fields), {}), ErrorCode::kInvalid)) << fields;
  }
  EXPECT_EQ(describe(get_thread(store(), before.id)), describe(before));
}

TEST_P(Updating, RefusesWhatExceedsTheLimits) {
  const Manifest before = create_thread(store());
  std::string pins = R"({"pins":[1)";
  for (std::size_t i = 0; i < limits::kMaxPins; ++i) pins += ",1";
  EXPECT_TRUE(fails(store().update(before.id, patch(pins + "]}"), {}), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxPins)}));
  ManifestPatch metadata;
  metadata.metadata(json(R"({"m":")" + std::string(limits::kMaxMetadataBytes, 'm') + R"("})"));
  EXPECT_TRUE(fails(store().update(before.id, metadata, {}), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxMetadataBytes)}));
  ManifestPatch manifest;
  manifest.title(std::string(limits::kMaxManifestBytes, 't'));
  EXPECT_TRUE(fails(store().update(before.id, manifest, {}), ErrorCode::kInvalid));
  EXPECT_EQ(describe(get_thread(store(), before.id)), describe(before));
}

TEST_P(Updating, GrowsAndShrinksTheManifestWithoutTouchingTheEvents) {
  const ThreadId id = create_thread(store(), "agent", {message("a"), message("b")}).id;
  for (const std::size_t size : {10U, 100'000U, 1U, 5'000U, 200'000U, 0U, 700U}) {
    must(store().update(id, ManifestPatch().title(std::string(size, 't')), {}));
    backend_.reopen();
    EXPECT_EQ(get_thread(store(), id).title.value_or("none").size(), size);
    EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("a", "b"));
  }
  EXPECT_EQ(must_append(store(), id, message("c")), 3U);
}

TEST_P(Updating, ConflictsWithAnotherVersionThanExpected) {
  const Manifest first = create_thread(store());
  UpdateOptions expecting;
  expecting.expect_version = first.version;
  const Manifest second = must(store().update(first.id, patch(R"({"title":"a"})"), expecting));
  EXPECT_TRUE(
      fails(store().update(first.id, patch(R"({"title":"b"})"), expecting), ErrorCode::kConflict));
  EXPECT_EQ(get_thread(store(), first.id).title, "a");
  backend_.reopen();
  EXPECT_TRUE(
      fails(store().update(first.id, patch(R"({"title":"b"})"), expecting), ErrorCode::kConflict));
  expecting.expect_version = second.version;
  EXPECT_TRUE(ok(store().update(first.id, patch(R"({"title":"c"})"), expecting)));
}

TEST_P(Updating, MovesAThreadWithoutEventsToAnotherAgent) {
  NewThread empty;
  empty.agent_id = "first";
  empty.alias = "7d3c2b1a-0000-4000-8000-00000000abcd";
  empty.fields = patch(R"({"title":"kept","metadata":{"user":"ada"}})");
  const Manifest before = must(store().create(empty));
  UpdateOptions options;
  options.expect_version = before.version;
  options.agent_id = "second";
  const Manifest moved = must(store().update(before.id, {}, options));
  EXPECT_EQ(moved.agent_id, "second");
  EXPECT_NE(moved.version, before.version);
  EXPECT_TRUE(fails(store().update(before.id, {}, options), ErrorCode::kConflict));
  must_append(store(), before.id, message("a"));
  const auto look = [&] {
    const auto found = must(store().get(must(ThreadRef::parse(*empty.alias))));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, before.id);
    EXPECT_EQ(found->agent_id, "second");
    EXPECT_EQ(found->title, "kept");
    EXPECT_EQ(found->last_seq, 1U);
    EXPECT_THAT(texts(read_all(store(), before.id)), ElementsAre("a"));
    for (const auto& [agent, threads] : {std::pair("first", 0U), std::pair("second", 1U)}) {
      ListQuery query;
      query.agent_id = agent;
      query.metadata = {{"user", Json::string("ada")}};
      EXPECT_EQ(must(store().list(query)).threads.size(), threads) << agent;
      query.metadata.clear();
      query.with_total = true;
      EXPECT_EQ(must(store().list(query)).total, threads) << agent;
    }
  };
  look();
  backend_.reopen();
  look();
  EXPECT_EQ(must(store().check({}, [](const Finding&) {})).broken, 0U);
}

TEST_P(Updating, LeavesAThreadWithEventsToItsAgent) {
  const Manifest before = create_thread(store(), "first");
  must_append(store(), before.id, message("said meanwhile"));
  UpdateOptions options;
  options.expect_version = before.version;  // which appends leave alone
  options.agent_id = "second";
  const auto refused = store().update(before.id, patch(R"({"title":"x"})"), options);
  ASSERT_TRUE(fails(refused, ErrorCode::kConflict));
  EXPECT_THAT(refused.error().message, testing::HasSubstr("first"));
  EXPECT_EQ(get_thread(store(), before.id).agent_id, "first");
  EXPECT_THAT(texts(read_all(store(), before.id)), ElementsAre("said meanwhile"));
  options.agent_id = "../up";
  options.expect_version.reset();
  EXPECT_TRUE(fails(store().update(create_thread(store()).id, {}, options), ErrorCode::kInvalid));
}

TEST_P(Updating, IsNotDisturbedByAppendsWhichLeaveTheVersionAlone) {
  const Manifest before = create_thread(store());
  must_append(store(), before.id, message("a"));
  EXPECT_EQ(get_thread(store(), before.id).version, before.version);
  UpdateOptions expecting;
  expecting.expect_version = before.version;
  const Manifest after = must(store().update(before.id, patch(R"({"title":"x"})"), expecting));
  EXPECT_EQ(after.last_seq, 1U);
}

TEST_P(Updating, KeepsTheLaterTimeOfAnAppendedEvent) {
  const ThreadId id = create_thread(store()).id;
  Event event = message("from a clock ahead of ours");
  event.timestamp = must(Timestamp::parse("2030-01-01T00:00:00Z"));
  must_append(store(), id, event);
  const Manifest updated = must(store().update(id, patch(R"({"title":"x"})"), {}));
  EXPECT_EQ(updated.updated_at.str(), "2030-01-01T00:00:00.000Z");
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), id).updated_at.str(), "2030-01-01T00:00:00.000Z");
}

TEST_P(Updating, SetsTheStatus) {
  const ThreadId id = create_thread(store()).id;
  for (const ThreadStatus status : {ThreadStatus::kPaused, ThreadStatus::kClosed,
                                    ThreadStatus::kArchived, ThreadStatus::kActive}) {
    must(store().update(id, ManifestPatch().status(status), {}));
    backend_.reopen();
    EXPECT_EQ(get_thread(store(), id).status, status);
    ListQuery query;
    query.status = status;
    EXPECT_THAT(list_ids(store(), query), ElementsAre(id));
  }
}

TEST_P(Updating, LaterEntriesOfAPatchWin) {
  const ThreadId id = create_thread(store()).id;
  ManifestPatch twice;
  twice.title("first").set("note", std::string_view("a")).clear("note").title("second");
  const Manifest updated = must(store().update(id, twice, {}));
  EXPECT_EQ(updated.title, "second");
  EXPECT_TRUE(updated.extra.empty());
}

}  // namespace
}  // namespace skein::test
