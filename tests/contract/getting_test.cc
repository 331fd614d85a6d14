#include "contract/contract.h"

namespace skein::test {
namespace {

constexpr std::string_view kAlias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";

ThreadRef named(std::string_view text) { return must(ThreadRef::parse(text)); }

Manifest create_with_alias(Store& store) {
  NewThread thread;
  thread.agent_id = "agent";
  thread.alias = kAlias;
  return must(store.create(thread));
}

SKEIN_ON_EVERY_BACKEND(Getting);

TEST_P(Getting, FindsAThreadByItsIdItsUuidFormAndItsAlias) {
  const Manifest made = create_with_alias(store());
  create_thread(store());
  backend_.reopen();
  for (const std::string& name : {made.id.str(), made.id.uuid(), std::string(kAlias),
                                  std::string("6F1C2F0E-9A57-4B0E-8F5E-0C1D2E3F4A5B")}) {
    const std::optional<Manifest> found = must(store().get(named(name)));
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(describe(*found), describe(made)) << name;
  }
}

TEST_P(Getting, AnUnknownThreadGivesNothing) {
  create_with_alias(store());
  EXPECT_FALSE(must(store().get(ThreadId::from_bits(1))).has_value());
  EXPECT_FALSE(must(store().get(named("00000000-0000-4000-8000-000000000001"))).has_value());
  EXPECT_FALSE(must(store().get(named("11111111-1111-4111-8111-111111111111"))).has_value());
}

TEST_P(Getting, DoesNotChangeAnything) {
  const Manifest made = create_with_alias(store());
  const std::vector<std::string> feed = whole_feed();
  clock().advance(1s);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(describe(get_thread(store(), made.id)), describe(made));
  EXPECT_EQ(whole_feed(), feed);
}

SKEIN_ON_EVERY_BACKEND(Removing);

TEST_P(Removing, TakesManifestEventsAndAliasAway) {
  const Manifest made = create_with_alias(store());
  must_append(store(), made.id, message("gone"));
  EXPECT_TRUE(must(store().remove(made.id)));
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(exists(store(), made.id));
    EXPECT_FALSE(must(store().get(named(kAlias))).has_value());
    EXPECT_THAT(read_all(store(), made.id), IsEmpty());
    EXPECT_EQ(thread_count(), 0U);
    backend_.reopen();
  }
}

TEST_P(Removing, WhatIsNotThereSaysSo) {
  EXPECT_FALSE(must(store().remove(ThreadId::from_bits(3))));
  const ThreadId id = create_thread(store()).id;
  EXPECT_TRUE(must(store().remove(id)));
  EXPECT_FALSE(must(store().remove(id)));
  EXPECT_FALSE(must(store().remove(id, {.expect_version = 1, .fence = {}})));
  EXPECT_THAT(whole_feed(), ElementsAre("removed " + id.str()));
}

TEST_P(Removing, AnExpectedVersionOnly) {
  const Manifest made = create_thread(store());
  const Manifest changed = must(store().update(made.id, patch(R"({"title":"x"})"), {}));
  EXPECT_TRUE(fails(store().remove(made.id, {.expect_version = made.version, .fence = {}}),
                    ErrorCode::kConflict, {std::to_string(made.version)}));
  EXPECT_TRUE(exists(store(), made.id));
  must_append(store(), made.id, message("appends leave the version alone"));
  EXPECT_TRUE(must(store().remove(made.id, {.expect_version = changed.version, .fence = {}})));
  EXPECT_FALSE(exists(store(), made.id));
}

TEST_P(Removing, LeavesOtherThreadsAlone) {
  const Manifest kept = create_thread(store(), "agent", {message("kept")});
  const ThreadId gone = create_thread(store(), "agent", {message("gone")}).id;
  must(store().remove(gone));
  backend_.reopen();
  EXPECT_EQ(describe(get_thread(store(), kept.id)), describe(kept));
  EXPECT_THAT(texts(read_all(store(), kept.id)), ElementsAre("kept"));
}

TEST_P(Removing, MakesEveryWriteFailAsForAnUnknownThread) {
  const ThreadId id = create_thread(store(), "agent", {message("a")}).id;
  const LeaseToken token = must(store().lease(id, "me", 10s, std::nullopt)).token;
  must(store().remove(id));
  EXPECT_TRUE(fails(append_one(store(), id, message("b")), ErrorCode::kNotFound, {id.str()}));
  EXPECT_TRUE(
      fails(store().update(id, patch(R"({"title":"x"})"), {}), ErrorCode::kNotFound, {id.str()}));
  EXPECT_TRUE(fails(store().lease(id, "me", 10s, std::nullopt), ErrorCode::kNotFound, {id.str()}));
  Append fenced;
  fenced.thread = id;
  fenced.event = message("c");
  fenced.fence = token;
  EXPECT_FALSE(append_one(store(), fenced).has_value());
  EXPECT_FALSE(exists(store(), id));
}

TEST_P(Removing, FreesTheIdAndTheAliasForANewThreadThatKnowsNothingOfTheOld) {
  Manifest made = create_with_alias(store());
  must_append(store(), made.id, with_key(message("old"), "k"));
  must_append(store(), made.id, with_base(message("older"), 0));
  must(store().update(made.id, patch(R"({"metadata":{"old":1}})"), {}));
  const LeaseToken token = must(store().lease(made.id, "me", 10s, std::nullopt)).token;
  made = get_thread(store(), made.id);
  must(store().remove(made.id));

  NewThread thread;
  thread.agent_id = "another";
  thread.id = made.id;
  thread.alias = kAlias;
  const Manifest fresh = must(store().create(thread));
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), made.id).agent_id, "another");
  EXPECT_NE(fresh.version, made.version) << "a version is never used twice";
  EXPECT_TRUE(get_thread(store(), made.id).metadata.empty());
  EXPECT_THAT(read_all(store(), made.id), IsEmpty());
  EXPECT_TRUE(must(store().get(named(kAlias))).has_value());

  Append old_holder;
  old_holder.thread = made.id;
  old_holder.event = message("x");
  old_holder.fence = token;
  EXPECT_TRUE(fails(append_one(store(), old_holder), ErrorCode::kFenced));
  const Appended first = must(append_one(store(), made.id, with_key(message("new"), "k")));
  EXPECT_EQ(first.seq, 1U);
  EXPECT_FALSE(first.repeated);
  EXPECT_EQ(must_append(store(), made.id, message("second")), 2U);
  ReadRange path;
  path.view = View::kPath;
  EXPECT_THAT(texts(read_all(store(), made.id, path)), ElementsAre("new", "second"));

  ListQuery query;
  query.metadata.push_back({"old", json("1")});
  EXPECT_THAT(list_ids(store(), query), IsEmpty());
}

TEST_P(Removing, LeavesRecordsAlone) {
  const ThreadId id = create_thread(store()).id;
  must(store().write(std::vector{record("runs", id.str(), "kept")}));
  must(store().remove(id));
  EXPECT_THAT(scan_all(store(), "runs"), SizeIs(1));
}

}  // namespace
}  // namespace skein::test
