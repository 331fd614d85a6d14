#include <atomic>
#include <thread>

#include "contract/contract.h"

namespace skein::test {
namespace {

class ChangeFeed : public StoreContract {
 protected:
  // What was not yet read by this test.
  std::vector<std::string> news() { return drain_text(store(), cursor_); }

  void put(std::string_view key, std::string_view bytes) {
    must(store().write(std::vector{record("runs", key, bytes)}));
  }

  std::string cursor_;
};
INSTANTIATE_TEST_SUITE_P(, ChangeFeed, testing::ValuesIn(backend_names()), backend_of);

TEST_P(ChangeFeed, OfAnEmptyStoreIsEmptyAndGivesACursorToGoOnFrom) {
  EXPECT_THAT(news(), IsEmpty());
  const ThreadId id = create_thread(store()).id;
  EXPECT_THAT(news(), ElementsAre("created " + id.str()));
}

TEST_P(ChangeFeed, TellsEachKindOfChangeOnceInOrder) {
  const ThreadId id = create_thread(store()).id;
  must_append(store(), id, message("a"));
  must(store().update(id, patch(R"({"title":"x"})"), {}));
  must_append(store(), id, message("b"));
  const std::string thread = id.str();
  EXPECT_THAT(news(), ElementsAre("created " + thread, "appended " + thread + " 1",
                                  "updated " + thread, "appended " + thread + " 2"));
  put("r", "1");
  EXPECT_THAT(news(), ElementsAre("written runs/r"));
  must(store().write(std::vector{deletion("runs", "r")}));
  EXPECT_THAT(news(), ElementsAre("deleted runs/r"));
  must(store().remove(id));
  EXPECT_THAT(news(), ElementsAre("removed " + thread));
  EXPECT_THAT(news(), IsEmpty());
}

TEST_P(ChangeFeed, TellsTheEventsThatAThreadWasCreatedWith) {
  const ThreadId id = create_thread(store(), "agent", {message("a"), message("b")}).id;
  NewThread fork;
  fork.agent_id = "agent";
  fork.from = Parent{id, 1};
  fork.events = {message("c")};
  EXPECT_THAT(news(), ElementsAre("created " + id.str(), "appended " + id.str() + " 1",
                                  "appended " + id.str() + " 2"));
  const std::string copy = must(store().create(fork)).id.str();
  EXPECT_THAT(news(),
              ElementsAre("created " + copy, "appended " + copy + " 1", "appended " + copy + " 2"));
}

TEST_P(ChangeFeed, LeavesOutUpdatesThatWereOvertaken) {
  const ThreadId id = create_thread(store()).id;
  for (int i = 0; i < 5; ++i) {
    must(store().update(id, ManifestPatch().title(std::to_string(i)), {}));
    put("r", std::to_string(i));
  }
  EXPECT_THAT(news(),
              UnorderedElementsAre("created " + id.str(), "updated " + id.str(), "written runs/r"));
  must(store().update(id, patch(R"({"title":"again"})"), {}));
  put("r", "again");
  EXPECT_THAT(news(), UnorderedElementsAre("updated " + id.str(), "written runs/r"));
}

TEST_P(ChangeFeed, TellsOfADeletedRecordItsDeletionOnly) {
  put("r", "1");
  must(store().write(std::vector{deletion("runs", "r")}));
  EXPECT_THAT(news(), ElementsAre("deleted runs/r"));
  put("r", "2");
  EXPECT_THAT(news(), ElementsAre("written runs/r"));
  EXPECT_THAT(whole_feed(), ElementsAre("written runs/r"));
}

TEST_P(ChangeFeed, TellsOfARemovedThreadItsRemovalOnly) {
  const ThreadId kept = create_thread(store(), "agent", {message("kept")}).id;
  const ThreadId gone = create_thread(store(), "agent", {message("a"), message("b")}).id;
  must(store().update(gone, patch(R"({"title":"x"})"), {}));
  must(store().remove(gone));
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(whole_feed(),
                UnorderedElementsAre("created " + kept.str(), "appended " + kept.str() + " 1",
                                     "removed " + gone.str()));
    backend_.reopen();
  }
}

TEST_P(ChangeFeed, TellsAReaderInTheMiddleOfTheRemoval) {
  const ThreadId id = create_thread(store(), "agent", {message("a")}).id;
  EXPECT_THAT(news(), SizeIs(2));
  must_append(store(), id, message("b"));
  must(store().remove(id));
  EXPECT_THAT(news(), ElementsAre("removed " + id.str()));
  NewThread again;
  again.agent_id = "agent";
  again.id = id;
  must(store().create(again));
  EXPECT_THAT(news(), testing::Contains("created " + id.str()));
}

TEST_P(ChangeFeed, SaysNothingOfWritesThatWereRefusedRepeatedOrWithoutEffect) {
  const ThreadId id = create_thread(store(), "agent", {with_key(message("a"), "k")}).id;
  must(store().update(id, patch(R"({"title":"x"})"), {}));
  news();
  must(append_one(store(), id, with_key(message("a"), "k")));
  must(store().update(id, patch(R"({"title":"x"})"), {}));
  EXPECT_FALSE(append_one(store(), id, with_key(message("b"), "k")).has_value());
  EXPECT_FALSE(append_one(store(), ThreadId::from_bits(1), message("b")).has_value());
  EXPECT_FALSE(store().update(id, patch(R"({"agentId":"x"})"), {}).has_value());
  EXPECT_FALSE(must(store().remove(ThreadId::from_bits(1))));
  must(store().write(std::vector{deletion("runs", "absent")}));
  must(store().lease(id, "me", 5s, std::nullopt));
  EXPECT_THAT(news(), IsEmpty());
}

TEST_P(ChangeFeed, CanBeReadInPartsOfAnySize) {
  for (int i = 0; i < 4; ++i) {
    const ThreadId id = create_thread(store(), "agent", {message("a"), message("b")}).id;
    must(store().update(id, patch(R"({"title":"x"})"), {}));
    put("r" + std::to_string(i), "1");
  }
  const std::vector<std::string> whole = whole_feed();
  EXPECT_THAT(whole, SizeIs(20));
  for (const std::size_t limit : {1U, 2U, 3U, 7U, 19U, 20U, 21U}) {
    std::string cursor;
    EXPECT_EQ(drain_text(store(), cursor, limit), whole) << "limit " << limit;
  }
}

TEST_P(ChangeFeed, GoesOnFromACursorAfterReopening) {
  const ThreadId id = create_thread(store(), "agent", {message("a")}).id;
  EXPECT_THAT(news(), SizeIs(2));
  must_append(store(), id, message("b"));
  backend_.reopen();
  must_append(store(), id, message("c"));
  put("r", "1");
  EXPECT_THAT(news(), UnorderedElementsAre("appended " + id.str() + " 2",
                                           "appended " + id.str() + " 3", "written runs/r"));
  backend_.reopen();
  EXPECT_THAT(news(), IsEmpty());
}

TEST_P(ChangeFeed, IsTheSameAfterReopening) {
  const ThreadId id = create_thread(store(), "agent", {message("a"), message("b")}).id;
  must(store().update(id, patch(R"({"title":"x"})"), {}));
  put("r", "1");
  const std::vector<std::string> before = whole_feed();
  backend_.reopen();
  EXPECT_THAT(whole_feed(), testing::UnorderedElementsAreArray(before));
}

TEST_P(ChangeFeed, FromNowTellsOnlyWhatComes) {
  create_thread(store(), "agent", {message("before")});
  cursor_ = Store::kNow;
  EXPECT_THAT(news(), IsEmpty());
  EXPECT_NE(cursor_, Store::kNow) << "the next call goes on from here, not from its own present";
  const ThreadId id = create_thread(store()).id;
  EXPECT_THAT(news(), ElementsAre("created " + id.str()));
}

TEST_P(ChangeFeed, WakesAWaitingReader) {
  const ThreadId id = create_thread(store()).id;
  news();
  std::atomic<bool> waiting = false;
  std::jthread writer([&] {
    waiting.wait(false);
    must_append(store(), id, message("wake up"));
  });
  waiting = true;
  waiting.notify_all();
  const ChangeBatch batch = must(store().changes(cursor_, 10, 50s));
  ASSERT_THAT(batch.changes, SizeIs(1));
  EXPECT_EQ(describe(batch.changes[0]), "appended " + id.str() + " 1");
}

TEST_P(ChangeFeed, WakesEveryWaitingReaderForEveryKindOfChange) {
  const ThreadId id = create_thread(store()).id;
  const std::vector<std::function<void()>> deeds{
      [&] { must_append(store(), id, message("a")); },
      [&] { must(store().update(id, patch(R"({"title":"x"})"), {})); },
      [&] { put("r", "1"); },
      [&] { must(store().write(std::vector{deletion("runs", "r")})); },
      [&] { create_thread(store()); },
      [&] { must(store().remove(id)); }};
  for (const auto& deed : deeds) {
    news();
    const auto listen = [this, cursor = cursor_] {
      EXPECT_FALSE(must(store().changes(cursor, 10, 50s)).changes.empty());
    };
    std::jthread one(listen);
    std::jthread two(listen);
    deed();
  }
}

TEST_P(ChangeFeed, AnswersAtOnceWhenThereIsSomething) {
  create_thread(store());
  EXPECT_THAT(must(store().changes("", 10, 60s)).changes, SizeIs(1));
}

TEST_P(ChangeFeed, ComesBackEmptyWhenNothingHappens) {
  create_thread(store());
  news();
  const ChangeBatch batch = must(store().changes(cursor_, 10, 20ms));
  EXPECT_THAT(batch.changes, IsEmpty());
  cursor_ = batch.cursor;
  const ThreadId id = create_thread(store()).id;
  EXPECT_THAT(news(), ElementsAre("created " + id.str()));
}

TEST_P(ChangeFeed, RefusesCursorsThatItDidNotMake) {
  create_thread(store());
  using namespace std::string_literals;
  for (const std::string& cursor :
       {"x"s, "-1"s, "1 "s, " 1"s, "1x"s, "0x1"s, "1e3"s, "99999999999999999999999999"s, "NOW"s,
        "' OR 1=1 --"s, "../x"s, "\0"s, "1\0"s, "\xff"s, std::string(100'000, '1')}) {
    EXPECT_TRUE(fails(store().changes(cursor, 10, 0ms), ErrorCode::kInvalid))
        << cursor.substr(0, 40);
  }
}

TEST_P(ChangeFeed, GoesOnAfterEachSingleChange) {
  const ThreadId id = create_thread(store(), "agent", {message("a"), message("b")}).id;
  std::vector<Append> batch(3, Append{id, message("c"), {}, {}});
  for (const auto& answer : store().append(batch)) EXPECT_TRUE(ok(answer));
  must(store().update(id, patch(R"({"title":"x"})"), {}));
  put("r", "1");
  const std::vector<std::string> all = whole_feed();
  ASSERT_THAT(all, SizeIs(8));
  const ChangeBatch whole = must(store().changes("", 100, 0ms));
  for (std::size_t i = 0; i < whole.changes.size(); ++i) {
    std::string cursor = whole.changes[i].cursor;
    const std::vector<std::string> rest = drain_text(store(), cursor, 2);
    EXPECT_EQ(rest, std::vector(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()));
    // The same place has the same name, however it was come to.
    const std::string before = i == 0 ? "" : whole.changes[i - 1].cursor;
    EXPECT_EQ(must(store().changes(before, 1, 0ms)).changes.at(0).cursor, whole.changes[i].cursor);
  }
}

TEST_P(ChangeFeed, RefusesLimitsAndWaitsBeyondTheRules) {
  EXPECT_TRUE(fails(store().changes("", 0, 0ms), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(store().changes("", limits::kMaxChanges + 1, 0ms), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxChanges)}));
  EXPECT_TRUE(fails(store().changes("", 1, -1ms), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(store().changes("", 1, std::chrono::milliseconds(limits::kMaxWaitMs + 1)),
                    ErrorCode::kInvalid, {std::to_string(limits::kMaxWaitMs)}));
  EXPECT_TRUE(ok(store().changes("", limits::kMaxChanges, 0ms)));
}

SKEIN_ON_EVERY_BACKEND(Checking);

TEST_P(Checking, AHealthyStoreFindsNothingAndCountsEverything) {
  for (int round = 0; round < 2; ++round) {
    const ThreadId a = create_thread(store(), "a", {message("1"), message("2")}).id;
    create_thread(store(), "b");
    must_append(store(), a, with_base(with_key(message("3"), "k"), 1));
    must(store().update(a, patch(R"({"title":"x","metadata":{"a":1},"other":[1]})"), {}));
    must(store().remove(create_thread(store(), "a", {message("gone")}).id));
    must(store().write(std::vector{record("runs", std::to_string(round), "x")}));
    must(store().write(std::vector{record("other", "gone", "x")}));
    must(store().write(std::vector{deletion("other", "gone")}));
    backend_.reopen();
  }
  for (const bool repair : {false, true}) {
    std::vector<std::string> findings;
    std::uint64_t last_done = 0;
    std::uint64_t last_total = 0;
    CheckOptions options;
    options.repair = repair;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_GE(done, last_done);
      last_done = done;
      last_total = total;
    };
    const CheckSummary summary = must(store().check(
        options, [&findings](const Finding& finding) { findings.push_back(finding.what); }));
    EXPECT_THAT(findings, IsEmpty());
    EXPECT_EQ(summary.health, Health::kHealthy);
    EXPECT_EQ(summary.threads, 4U);
    EXPECT_EQ(summary.events, 6U);
    EXPECT_EQ(summary.records, 2U);
    EXPECT_EQ(summary.unverifiable, 0U);
    EXPECT_EQ(summary.broken, 0U);
    EXPECT_EQ(last_done, last_total);
  }
  EXPECT_EQ(thread_count(), 4U);
}

TEST_P(Checking, AnEmptyStoreIsHealthy) {
  const CheckSummary summary = must(store().check({}, [](const Finding&) { ADD_FAILURE(); }));
  EXPECT_EQ(summary.health, Health::kHealthy);
  EXPECT_EQ(summary.threads + summary.events + summary.records, 0U);
}

TEST_P(Checking, WhoeverIsToldOfTheProgressMayCallTheStore) {
  const ThreadId id = create_thread(store()).id;
  CheckOptions options;
  options.progress = [&](std::uint64_t, std::uint64_t) { must_append(store(), id, message("x")); };
  must(store().check(options, {}));
  EXPECT_THAT(read_seqs(store(), id), ElementsAre(1));
}

}  // namespace
}  // namespace skein::test
