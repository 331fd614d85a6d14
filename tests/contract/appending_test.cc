#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Appending);

Append to(ThreadId thread, Event event) {
  Append append;
  append.thread = thread;
  append.event = std::move(event);
  return append;
}

Append at(Append append, Seq expected) {
  append.expect_seq = expected;
  return append;
}

Event timed(std::string_view text, std::string_view time) {
  Event event = message(text);
  event.timestamp = must(Timestamp::parse(time));
  return event;
}

TEST_P(Appending, NumbersTheEventsFromOneWithoutGaps) {
  const ThreadId id = create_thread(store()).id;
  for (Seq seq = 1; seq <= 5; ++seq) {
    const Appended appended = must(append_one(store(), id, message(std::to_string(seq))));
    EXPECT_EQ(appended.seq, seq);
    EXPECT_FALSE(appended.repeated);
    EXPECT_EQ(get_thread(store(), id).last_seq, seq);
    if (seq == 3) backend_.reopen();
  }
  EXPECT_THAT(read_seqs(store(), id), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("1", "2", "3", "4", "5"));
}

TEST_P(Appending, ToAnUnknownThreadIsRefusedAndCreatesNothing) {
  const ThreadId unknown = ThreadId::from_bits(0xABC);
  EXPECT_TRUE(
      fails(append_one(store(), unknown, message("x")), ErrorCode::kNotFound, {"000000000abc"}));
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(exists(store(), unknown));
    EXPECT_THAT(read_all(store(), unknown), IsEmpty());
    EXPECT_EQ(thread_count(), 0U);
    EXPECT_THAT(whole_feed(), IsEmpty());
    backend_.reopen();
  }
}

TEST_P(Appending, TakesEachTypeAndRoleAndGivesItBackWhole) {
  std::vector<Event> events{message("u", Role::kUser),
                            message("a", Role::kAssistant),
                            message("s", Role::kSystem),
                            message("t", Role::kTool),
                            tool_use("look", R"({"at":["it",{"n":null}]})"),
                            assistant_text("looking"),
                            run_result(0.125, 3)};
  RunResult full;
  full.cost = 1e-9;
  full.duration_ms = 1234.5;
  full.turns = 0;
  full.input_tokens = 9'007'199'254'740'993;
  full.output_tokens = 1;
  full.cache_read_tokens = 2;
  events.emplace_back().payload = full;
  events.emplace_back().payload = RunResult{};
  const ThreadId id = create_thread(store()).id;
  for (const Event& event : events) must_append(store(), id, event);
  backend_.reopen();
  const std::vector<Event> found = read_all(store(), id);
  ASSERT_THAT(found, SizeIs(events.size()));
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_TRUE(same_event(found[i], events[i])) << to_json(found[i]);
    EXPECT_EQ(found[i].seq, i + 1);
    EXPECT_EQ(found[i].timestamp, clock().now());
  }
  const auto& result = std::get<RunResult>(found[7].payload);
  EXPECT_EQ(result.input_tokens, 9'007'199'254'740'993);
  EXPECT_EQ(result.cost, 1e-9);
  EXPECT_EQ(result.duration_ms, 1234.5);
}

TEST_P(Appending, KeepsWhatAnEventCarriesBesides) {
  Event event = with_metadata(message("m"), R"({"source":"cli","tokens":{"in":1}})");
  event.extra = json(R"({"x-big":12345678901234567890123,"x-exp":1e400,"nested":{"a":[null]}})");
  event.memory_type = MemoryType::kContextSummary;
  event.timestamp = must(Timestamp::parse("1999-12-31T23:59:59.999999Z"));
  event.key = "key-1";
  event.tokens = 4'000'000'000U;
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, event);
  backend_.reopen();
  const Event found = read_all(store(), id).at(0);
  EXPECT_TRUE(same_event(found, event)) << to_json(found);
  EXPECT_EQ(found.extra.text().find("12345678901234567890123") == std::string::npos, false);
  EXPECT_EQ(found.memory_type, MemoryType::kContextSummary);
  EXPECT_EQ(found.timestamp.str(), "1999-12-31T23:59:59.999999Z");
  EXPECT_EQ(found.key, "key-1");
  EXPECT_EQ(found.tokens, 4'000'000'000U);
  EXPECT_FALSE(found.base.has_value());
}

TEST_P(Appending, SetsUpdatedAtToTheEventsTimeIfThatIsLater) {
  const ThreadId id = create_thread(store()).id;
  const Timestamp created = get_thread(store(), id).updated_at;
  must_append(store(), id, timed("past", "2001-01-01T00:00:00Z"));
  EXPECT_EQ(get_thread(store(), id).updated_at, created);
  clock().advance(1500ms);
  must_append(store(), id, message("now"));
  EXPECT_EQ(get_thread(store(), id).updated_at, clock().now());
  must_append(store(), id, timed("ahead", "2040-01-01T00:00:00.5Z"));
  must_append(store(), id, message("now again"));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(get_thread(store(), id).updated_at.str(), "2040-01-01T00:00:00.500Z");
    backend_.reopen();
  }
}

TEST_P(Appending, GivesEachOfABatchItsOwnAnswer) {
  const ThreadId a = create_thread(store()).id;
  const ThreadId b = create_thread(store()).id;
  Append fenced = to(b, message("fenced"));
  fenced.fence = 12345;
  const std::vector<Append> batch{
      to(a, message("a1")),
      to(a, message("bad \xff")),
      to(ThreadId::from_bits(1), message("nowhere")),
      to(b, message("b1")),
      fenced,
      to(a, with_base(message("bad base"), 2)),
      at(to(a, message("wrong place")), 7),
      at(to(a, message("a2")), 2),
      to(b, with_key(message("b2"), "k")),
      to(b, with_key(message("not b2"), "k")),
      to(b, with_key(message("b2"), "k")),
      to(a, message("a3")),
  };
  const std::vector<Result<Appended>> results = store().append(batch);
  ASSERT_THAT(results, SizeIs(batch.size()));
  EXPECT_EQ(must(results[0]).seq, 1U);
  EXPECT_TRUE(fails(results[1], ErrorCode::kInvalid));
  EXPECT_TRUE(fails(results[2], ErrorCode::kNotFound));
  EXPECT_EQ(must(results[3]).seq, 1U);
  EXPECT_TRUE(fails(results[4], ErrorCode::kFenced));
  EXPECT_TRUE(fails(results[5], ErrorCode::kInvalid));
  EXPECT_TRUE(fails(results[6], ErrorCode::kConflict));
  EXPECT_EQ(must(results[7]).seq, 2U);
  EXPECT_EQ(must(results[8]).seq, 2U);
  EXPECT_TRUE(fails(results[9], ErrorCode::kConflict));
  EXPECT_EQ(must(results[10]).seq, 2U);
  EXPECT_TRUE(must(results[10]).repeated);
  EXPECT_EQ(must(results[11]).seq, 3U);
  backend_.reopen();
  EXPECT_THAT(texts(read_all(store(), a)), ElementsAre("a1", "a2", "a3"));
  EXPECT_THAT(texts(read_all(store(), b)), ElementsAre("b1", "b2"));
}

TEST_P(Appending, NothingIsNoError) { EXPECT_THAT(store().append({}), IsEmpty()); }

TEST_P(Appending, ManyAtOnceKeepsTheirOrder) {
  const ThreadId id = create_thread(store()).id;
  std::vector<Append> batch;
  for (int i = 1; i <= 2000; ++i) batch.push_back(to(id, message(std::to_string(i))));
  const std::vector<Result<Appended>> results = store().append(batch);
  for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_EQ(must(results[i]).seq, i + 1);
  backend_.reopen();
  const std::vector<Event> events = read_all(store(), id);
  ASSERT_THAT(events, SizeIs(2000));
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(text_of(events[i]), std::to_string(i + 1));
  }
}

TEST_P(Appending, RefusesABatchOverTheLimitWhole) {
  const ThreadId id = create_thread(store()).id;
  const std::vector<Append> batch(limits::kMaxBatch + 1, to(id, message("x")));
  const std::vector<Result<Appended>> results = store().append(batch);
  ASSERT_THAT(results, SizeIs(batch.size()));
  EXPECT_TRUE(fails(results.front(), ErrorCode::kInvalid, {std::to_string(limits::kMaxBatch)}));
  EXPECT_TRUE(fails(results.back(), ErrorCode::kInvalid));
  EXPECT_EQ(get_thread(store(), id).last_seq, 0U);
}

TEST_P(Appending, AtAnExpectedSeqOnly) {
  const ThreadId id = create_thread(store()).id;
  EXPECT_EQ(must(append_one(store(), at(to(id, message("a")), 1))).seq, 1U);
  for (const Seq wrong : {Seq{0}, Seq{1}, Seq{3}, kLastSeq}) {
    EXPECT_TRUE(fails(append_one(store(), at(to(id, message("b")), wrong)), ErrorCode::kConflict));
  }
  EXPECT_EQ(must(append_one(store(), at(to(id, message("b")), 2))).seq, 2U);
  EXPECT_THAT(read_seqs(store(), id), ElementsAre(1, 2));
}

TEST_P(Appending, AtAnExpectedVersionOfTheManifestOnly) {
  Manifest manifest = create_thread(store());
  const auto append = [&](std::string_view text, Version version) {
    return append_one(store(), Append{manifest.id, message(text), {}, {}, version});
  };
  EXPECT_TRUE(ok(append("a", manifest.version)));
  EXPECT_TRUE(ok(append("appends leave the version alone", manifest.version)));
  const Version before = manifest.version;
  manifest = must(store().update(manifest.id, patch(R"({"status":"closed"})"), {}));
  EXPECT_TRUE(fails(append("b", before), ErrorCode::kConflict,
                    {std::to_string(before), std::to_string(manifest.version)}));
  EXPECT_EQ(get_thread(store(), manifest.id).last_seq, 2U);
  EXPECT_TRUE(ok(append("c", manifest.version)));
}

TEST_P(Appending, RefusesABaseThatDoesNotLieBeforeTheEvent) {
  const ThreadId id = create_thread(store(), "agent", {message("a"), message("b")}).id;
  for (const Seq base : {Seq{3}, Seq{4}, kLastSeq, Seq{1} << 63}) {
    EXPECT_TRUE(fails(append_one(store(), id, with_base(message("x"), base)), ErrorCode::kInvalid,
                      {std::to_string(base)}));
  }
  for (const Seq base : {Seq{2}, Seq{0}, Seq{1}}) {
    EXPECT_TRUE(ok(append_one(store(), id, with_base(message("x"), base))));
  }
  backend_.reopen();
  const std::vector<Event> events = read_all(store(), id);
  ASSERT_THAT(events, SizeIs(5));
  EXPECT_EQ(events[3].base, 0U);
  EXPECT_EQ(events[4].base, 1U);
}

TEST_P(Appending, RefusesEventsThatBreakTheRules) {
  const ThreadId id = create_thread(store()).id;
  std::vector<Event> bad;
  bad.emplace_back().payload = Unreadable{"damaged", "raw"};
  bad.push_back(message("\xff"));
  bad.push_back(message("\xed\xa0\x80"));
  bad.push_back(message("cut \xe2\x82"));
  bad.push_back(assistant_text("\xc0\x80"));
  bad.push_back(tool_use("\xf5\x80\x80\x80"));
  bad.push_back(tool_use(""));
  bad.emplace_back().payload = ToolUse{"t", json("[1]")};
  bad.emplace_back().payload = ToolUse{"t", json("\"text\"")};
  bad.push_back(with_metadata(message("m"), "[]"));
  bad.push_back(with_metadata(message("m"), "1"));
  bad.push_back(with_extra(message("m"), "[]"));
  bad.push_back(with_key(message("m"), "\xff"));
  RunResult endless;
  endless.cost = std::numeric_limits<double>::infinity();
  bad.emplace_back().payload = endless;
  endless.cost = std::numeric_limits<double>::quiet_NaN();
  bad.emplace_back().payload = endless;
  for (const std::string_view own :
       {"seq", "key", "tokenCount", "crc", "type", "timestamp", "base", "role", "text"}) {
    bad.push_back(with_extra(message("m"), "{" + Json::string(own).text() + ":1}"));
  }
  bad.push_back(with_extra(message("m"), R"({"metadata":{}})"));
  bad.push_back(with_extra(message("m"), R"({"memoryType":"tool_result"})"));
  bad.push_back(with_extra(message("m"), R"({"timestamp":"2026-01-01T00:00:00Z"})"));
  bad.push_back(with_extra(message("m"), R"({"te\u0078t":"other"})"));
  for (const Event& event : bad) {
    EXPECT_TRUE(fails(append_one(store(), id, event), ErrorCode::kInvalid)) << to_json(event);
  }
  EXPECT_EQ(get_thread(store(), id).last_seq, 0U);
}

TEST_P(Appending, RefusesWhatExceedsTheLimitsAndNamesThem) {
  const ThreadId id = create_thread(store()).id;
  const auto refused = [&](Event event, std::size_t limit) {
    return fails(append_one(store(), id, std::move(event)), ErrorCode::kInvalid,
                 {std::to_string(limit)});
  };
  EXPECT_TRUE(refused(message(std::string(limits::kMaxTextBytes + 1, 'x')), limits::kMaxTextBytes));
  EXPECT_TRUE(refused(with_key(message("x"), std::string(limits::kMaxKeyBytes + 1, 'k')),
                      limits::kMaxKeyBytes));
  EXPECT_TRUE(refused(tool_use(std::string(limits::kMaxToolNameBytes + 1, 't')),
                      limits::kMaxToolNameBytes));
  const std::string padding(limits::kMaxEventMetadataBytes, 'm');
  EXPECT_TRUE(refused(with_metadata(message("x"), R"({"m":")" + padding + "\"}"),
                      limits::kMaxEventMetadataBytes));
  EXPECT_TRUE(refused(tool_use("t", R"({"i":")" + std::string(limits::kMaxEventBytes, 'i') + "\"}"),
                      limits::kMaxEventBytes));
  const std::string half = R"({"h":")" + std::string(limits::kMaxEventBytes / 2, 'h') + "\"}";
  EXPECT_TRUE(refused(with_extra(tool_use("t", half), half), limits::kMaxEventBytes));
  EXPECT_TRUE(refused(message(std::string(limits::kMaxTextBytes, '\x01')), limits::kMaxEventBytes));
  EXPECT_EQ(get_thread(store(), id).last_seq, 0U);
}

TEST_P(Appending, TakesWhatJustMeetsTheLimits) {
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, message(std::string(limits::kMaxTextBytes, 'x')));
  must_append(store(), id, with_key(message("k"), std::string(limits::kMaxKeyBytes, 'k')));
  must_append(store(), id, tool_use(std::string(limits::kMaxToolNameBytes, 't')));
  must_append(store(), id, message(""));
  must_append(store(), id, tool_use("t", R"({"i":")" + std::string(6U << 20, 'i') + "\"}"));
  backend_.reopen();
  const std::vector<Event> events = read_all(store(), id);
  ASSERT_THAT(events, SizeIs(5));
  EXPECT_EQ(text_of(events[0]).size(), limits::kMaxTextBytes);
  EXPECT_EQ(events[1].key.size(), limits::kMaxKeyBytes);
  EXPECT_EQ(text_of(events[3]), "");
  EXPECT_GT(std::get<ToolUse>(events[4].payload).input.text().size(), 6U << 20);
}

SKEIN_ON_EVERY_BACKEND(Keys);

TEST_P(Keys, TheSameEventAgainAnswersTheSeqOfThen) {
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, message("before"));
  EXPECT_EQ(must_append(store(), id, with_key(message("once"), "k")), 2U);
  must_append(store(), id, message("after"));
  for (int round = 0; round < 2; ++round) {
    clock().advance(1s);
    const Manifest before = get_thread(store(), id);
    Event again = with_key(message("once"), "k");
    again.tokens = 99;
    const Appended answer = must(append_one(store(), id, again));
    EXPECT_EQ(answer.seq, 2U);
    EXPECT_TRUE(answer.repeated);
    EXPECT_EQ(describe(get_thread(store(), id)), describe(before)) << "nothing was written";
    backend_.reopen();
  }
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("before", "once", "after"));
}

TEST_P(Keys, WithAnotherEventConflict) {
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, with_metadata(with_key(message("once"), "k"), R"({"a":1})"));
  const std::vector<Event> others{
      with_key(message("once"), "k"),
      with_metadata(with_key(message("twice"), "k"), R"({"a":1})"),
      with_metadata(with_key(message("once", Role::kAssistant), "k"), R"({"a":1})"),
      with_metadata(with_key(message("once"), "k"), R"({"a":2})"),
      with_metadata(with_key(assistant_text("once"), "k"), R"({"a":1})"),
      with_base(with_metadata(with_key(message("once"), "k"), R"({"a":1})"), 0),
      with_extra(with_metadata(with_key(message("once"), "k"), R"({"a":1})"), R"({"b":1})")};
  for (int round = 0; round < 2; ++round) {
    for (const Event& other : others) {
      EXPECT_TRUE(fails(append_one(store(), id, other), ErrorCode::kConflict, {"k"}))
          << to_json(other);
    }
    backend_.reopen();
  }
  EXPECT_EQ(get_thread(store(), id).last_seq, 1U);
}

TEST_P(Keys, AreComparedInMeaningNotInSpelling) {
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, with_metadata(with_key(message("m"), "k"), R"({"a":1,"b":"é"})"));
  const Appended again = must(append_one(
      store(), id, with_metadata(with_key(message("m"), "k"), R"({ "b" : "\u00e9", "a":1 })")));
  EXPECT_TRUE(again.repeated);
}

TEST_P(Keys, BelongToOneThread) {
  const ThreadId a = create_thread(store()).id;
  const ThreadId b = create_thread(store()).id;
  must_append(store(), a, with_key(message("to a"), "k"));
  const Appended other = must(append_one(store(), b, with_key(message("to b"), "k")));
  EXPECT_FALSE(other.repeated);
  EXPECT_EQ(other.seq, 1U);
}

TEST_P(Keys, AnswerWhateverSeqIsExpectedButNotPastAFence) {
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, with_key(message("m"), "k"));
  Append again = at(to(id, with_key(message("m"), "k")), 40);
  EXPECT_TRUE(must(append_one(store(), again)).repeated);
  again.fence = 4711;
  EXPECT_TRUE(fails(append_one(store(), again), ErrorCode::kFenced));
}

TEST_P(Keys, AnswerWhateverVersionIsExpected) {
  const ThreadId id = create_thread(store()).id;
  const Event event = with_key(message("a"), "k");
  must_append(store(), id, event);
  const Appended again = must(append_one(store(), Append{id, event, {}, {}, Version{0}}));
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.seq, 1U);
}

TEST_P(Keys, TellEveryTwoStringsApart) {
  const ThreadId id = create_thread(store()).id;
  const std::vector<std::string> keys{"a",  "A",   "a ",   " a",  "a%",        "a_",
                                      "a'", "a\"", "a\\",  "ä",   "a\xcc\x88", "1",
                                      "01", "1.0", "null", "a\n", "a/b"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(must_append(store(), id, with_key(message(keys[i]), keys[i])), i + 1);
  }
  backend_.reopen();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Appended again = must(append_one(store(), id, with_key(message(keys[i]), keys[i])));
    EXPECT_EQ(again.seq, i + 1) << keys[i];
    EXPECT_TRUE(again.repeated) << keys[i];
  }
}

}  // namespace
}  // namespace skein::test
