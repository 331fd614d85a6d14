#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Forking);

NewThread fork_of(ThreadId thread, Seq seq, std::string_view agent = "agent") {
  NewThread fork;
  fork.agent_id = agent;
  fork.from = Parent{thread, seq};
  return fork;
}

TEST_P(Forking, CopiesTheEventsUpToAnySeq) {
  const ThreadId parent =
      create_thread(store(), "agent", {message("a"), message("b"), message("c")}).id;
  for (Seq seq = 1; seq <= 3; ++seq) {
    const Manifest fork = must(store().create(fork_of(parent, seq)));
    EXPECT_NE(fork.id, parent);
    EXPECT_EQ(fork.last_seq, seq);
    ASSERT_TRUE(fork.parent.has_value());
    EXPECT_EQ(fork.parent->thread, parent);
    EXPECT_EQ(fork.parent->seq, seq);
    const std::vector<Event> events = read_all(store(), fork.id);
    ASSERT_THAT(events, SizeIs(seq));
    for (Seq i = 0; i < seq; ++i) {
      EXPECT_EQ(to_json(events[i]), to_json(read_all(store(), parent)[i]));
    }
  }
}

TEST_P(Forking, CopiesEventsAsTheyWereThen) {
  const ThreadId parent = create_thread(store()).id;
  Event event = with_metadata(message("a"), R"({"tool_call_id":"x"})");
  event.timestamp = must(Timestamp::parse("2021-01-01T00:00:00.000001Z"));
  event.memory_type = MemoryType::kDecisionPoint;
  event.extra = json(R"({"big":12345678901234567890123})");
  event.tokens = 17;
  must_append(store(), parent, event);
  clock().advance(5s);
  const ThreadId fork = must(store().create(fork_of(parent, 1))).id;
  backend_.reopen();
  const Event copy = read_all(store(), fork).at(0);
  EXPECT_EQ(to_json(copy), to_json(read_all(store(), parent).at(0)));
  EXPECT_EQ(copy.tokens, 17U);
}

TEST_P(Forking, AppendsTheEventsThatCameWithIt) {
  const ThreadId parent = create_thread(store(), "agent", {message("a"), message("b")}).id;
  NewThread thread = fork_of(parent, 1);
  thread.events = {message("c"), message("d")};
  const Manifest fork = must(store().create(thread));
  EXPECT_EQ(fork.last_seq, 3U);
  EXPECT_THAT(texts(read_all(store(), fork.id)), ElementsAre("a", "c", "d"));
  EXPECT_EQ(must_append(store(), fork.id, message("e")), 4U);
  EXPECT_THAT(texts(read_all(store(), parent)), ElementsAre("a", "b"));
}

TEST_P(Forking, LivesOnWhenItsParentIsDeleted) {
  const ThreadId parent = create_thread(store(), "agent", {message("a"), message("b")}).id;
  const ThreadId fork = must(store().create(fork_of(parent, 2))).id;
  EXPECT_TRUE(must(store().remove(parent)));
  backend_.reopen();
  EXPECT_THAT(texts(read_all(store(), fork)), ElementsAre("a", "b"));
  EXPECT_EQ(get_thread(store(), fork).parent->thread, parent);
  const Manifest second = must(store().create(fork_of(fork, 1)));
  EXPECT_EQ(second.parent->thread, fork);
}

TEST_P(Forking, FromNothingIsAThreadWithAParentAndNoEvents) {
  const ThreadId parent = create_thread(store(), "agent", {message("a")}).id;
  const Manifest fork = must(store().create(fork_of(parent, 0)));
  EXPECT_EQ(fork.last_seq, 0U);
  EXPECT_EQ(fork.parent->seq, 0U);
  EXPECT_THAT(read_all(store(), fork.id), IsEmpty());
}

TEST_P(Forking, OfAnUnknownThreadMakesNothing) {
  EXPECT_TRUE(fails(store().create(fork_of(ThreadId::from_bits(9), 0)), ErrorCode::kNotFound,
                    {"000000000009"}));
  EXPECT_EQ(thread_count(), 0U);
  EXPECT_THAT(whole_feed(), IsEmpty());
}

TEST_P(Forking, ForAnotherAgentIsRefused) {
  const ThreadId parent = create_thread(store(), "agent", {message("a")}).id;
  EXPECT_TRUE(fails(store().create(fork_of(parent, 1, "other")), ErrorCode::kInvalid, {"other"}));
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Forking, BeyondTheEndIsRefused) {
  const ThreadId parent = create_thread(store(), "agent", {message("a")}).id;
  EXPECT_TRUE(fails(store().create(fork_of(parent, 2)), ErrorCode::kInvalid, {"2"}));
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Forking, KeepsBranchesInTheCopiedPart) {
  const ThreadId parent =
      create_thread(store(), "agent",
                    {message("a"), message("b"), with_base(message("c"), 1), message("d")})
          .id;
  const ThreadId fork = must(store().create(fork_of(parent, 3))).id;
  must_append(store(), fork, message("e"));
  backend_.reopen();
  ReadRange path;
  path.view = View::kPath;
  EXPECT_THAT(texts(read_all(store(), fork, path)), ElementsAre("a", "c", "e"));
  EXPECT_THAT(texts(read_all(store(), fork)), ElementsAre("a", "b", "c", "e"));
}

TEST_P(Forking, WritesNothingIntoItsParent) {
  const Manifest parent = create_thread(store(), "agent", {message("a")});
  clock().advance(1s);
  const ThreadId fork = must(store().create(fork_of(parent.id, 1))).id;
  must_append(store(), fork, message("b"));
  must(store().update(fork, patch(R"({"title":"fork"})"), {}));
  EXPECT_EQ(describe(get_thread(store(), parent.id)), describe(parent));
  EXPECT_THAT(read_seqs(store(), parent.id), ElementsAre(1));
}

}  // namespace
}  // namespace skein::test
