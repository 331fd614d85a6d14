// Several processes on the same data. They share the machine's clock, so the store in this process
// uses it too.
#include <map>
#include <memory>
#include <set>

#include "contract/contract.h"
#include "support/child.h"

namespace skein::test {
namespace {

class Processes : public StoreContract {
 protected:
  void SetUp() override { shared_ = must(open_store(backend_.url())); }

  Store& shared() { return *shared_; }
  std::unique_ptr<Child> start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, backend_.url());
    return std::make_unique<Child>(arguments);
  }
  std::vector<std::string> run(std::vector<std::string> arguments) {
    const std::unique_ptr<Child> child = start(std::move(arguments));
    std::vector<std::string> lines = child->read_to_end();
    EXPECT_EQ(child->wait(), 0);
    return lines;
  }
  // A process that has opened the store and waits for a line to begin.
  std::unique_ptr<Child> start_appending(ThreadId id, const std::string& name, int count) {
    std::unique_ptr<Child> child = start({"append", id.str(), name, std::to_string(count)});
    EXPECT_EQ(child->read_line(), "ready");
    return child;
  }

 private:
  std::unique_ptr<Store> shared_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Processes);
INSTANTIATE_TEST_SUITE_P(, Processes, testing::ValuesIn(persistent_backend_names()), backend_of);

TEST_P(Processes, EightAppendToOneThreadAndEveryAcknowledgedEventIsThereOnce) {
  constexpr int kProcesses = 8;
  constexpr int kEach = 40;
  const ThreadId id = create_thread(shared()).id;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(start_appending(id, "p" + std::to_string(i), kEach));
  }
  for (const auto& child : children) child->send_line("go");

  std::map<Seq, std::string> acknowledged;
  for (int i = 0; i < kProcesses; ++i) {
    Child& child = *children[static_cast<std::size_t>(i)];
    int turn = 0;
    for (const std::string& seq : child.read_to_end()) {
      acknowledged[std::stoull(seq)] = "p" + std::to_string(i) + "-" + std::to_string(turn++);
    }
    EXPECT_EQ(turn, kEach);
    EXPECT_EQ(child.wait(), 0);
  }
  ASSERT_THAT(acknowledged, SizeIs(kProcesses * kEach)) << "a seq was given twice";
  const std::vector<Event> events = read_all(shared(), id);
  ASSERT_THAT(events, SizeIs(kProcesses * kEach));
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].seq, i + 1);
    ASSERT_EQ(text_of(events[i]), acknowledged[i + 1]);
  }
  EXPECT_EQ(must(shared().check({}, [](const Finding& finding) { ADD_FAILURE() << finding.what; }))
                .health,
            Health::kHealthy);
}

TEST_P(Processes, OneSeesAtOnceWhatAnotherWrote) {
  const ThreadId id = create_thread(shared()).id;
  for (int round = 0; round < 3; ++round) {
    const std::unique_ptr<Child> child = start_appending(id, "r" + std::to_string(round), 2);
    child->send_line("go");
    EXPECT_THAT(child->read_to_end(), SizeIs(2));
    EXPECT_EQ(get_thread(shared(), id).last_seq, static_cast<Seq>(round * 3 + 2));
    EXPECT_EQ(must_append(shared(), id, message("ours")), static_cast<Seq>(round * 3 + 3));
  }
  EXPECT_THAT(texts(read_all(shared(), id)),
              ElementsAre("r0-0", "r0-1", "ours", "r1-0", "r1-1", "ours", "r2-0", "r2-1", "ours"));
}

TEST_P(Processes, TheSameKeyInTwoIsWrittenOnce) {
  const ThreadId id = create_thread(shared()).id;
  const std::unique_ptr<Child> one = start_appending(id, "same", 20);
  const std::unique_ptr<Child> two = start_appending(id, "same", 20);
  one->send_line("go");
  two->send_line("go");
  EXPECT_EQ(one->read_to_end(), two->read_to_end());
  EXPECT_EQ(get_thread(shared(), id).last_seq, 20U);
}

TEST_P(Processes, AReaderWaitingForChangesWakesForThoseOfAnother) {
  const ThreadId id = create_thread(shared()).id;
  const std::string cursor = must(shared().changes(Store::kNow, 1, 0ms)).cursor;
  const std::unique_ptr<Child> child = start_appending(id, "c", 1);
  child->send_line("go");
  const ChangeBatch batch = must(shared().changes(cursor, 10, 50s));
  ASSERT_THAT(batch.changes, SizeIs(1));
  EXPECT_EQ(describe(batch.changes[0]), "appended " + id.str() + " 1");
}

TEST_P(Processes, TheFeedReadByAnotherFromCursorsMissesNothingAndRepeatsNothing) {
  std::string cursor;
  std::vector<std::string> seen;
  const auto read_there = [&] {
    std::vector<std::string> lines = run({"changes", cursor});
    ASSERT_FALSE(lines.empty());
    ASSERT_TRUE(lines.back().starts_with("cursor "));
    cursor = lines.back().substr(7);
    seen.insert(seen.end(), lines.begin(), lines.end() - 1);
  };
  const ThreadId a = create_thread(shared(), "agent", {message("1")}).id;
  const ThreadId b = create_thread(shared()).id;
  read_there();
  EXPECT_THAT(seen, UnorderedElementsAre("created " + a.str(), "appended " + a.str() + " 1",
                                         "created " + b.str()));
  seen.clear();
  must_append(shared(), a, message("2"));
  must(shared().update(b, patch(R"({"title":"x"})"), {}));
  must(shared().write(std::vector{record("runs", "r", "1")}));
  read_there();
  EXPECT_THAT(seen, UnorderedElementsAre("appended " + a.str() + " 2", "updated " + b.str(),
                                         "written runs/r"));
  seen.clear();
  must(shared().write(std::vector{deletion("runs", "r")}));
  must(shared().remove(b));
  must_append(shared(), a, message("3"));
  read_there();
  EXPECT_THAT(seen, UnorderedElementsAre("deleted runs/r", "removed " + b.str(),
                                         "appended " + a.str() + " 3"));
  seen.clear();
  read_there();
  EXPECT_THAT(seen, IsEmpty());
}

TEST_P(Processes, AFeedCursorOfAnotherProcessGoesOnHere) {
  const ThreadId id = create_thread(shared(), "agent", {message("1")}).id;
  const std::vector<std::string> lines = run({"changes", ""});
  ASSERT_THAT(lines, SizeIs(3));
  std::string cursor = lines.back().substr(7);
  EXPECT_THAT(drain(shared(), cursor), IsEmpty());
  must_append(shared(), id, message("2"));
  EXPECT_THAT(drain_text(shared(), cursor), ElementsAre("appended " + id.str() + " 2"));
}

TEST_P(Processes, AFollowerSeesEveryEventOfEightWritersOnceAndInOrder) {
  constexpr int kProcesses = 8;
  constexpr int kEach = 15;
  const ThreadId id = create_thread(shared()).id;
  std::string cursor = must(shared().changes(Store::kNow, 1, 0ms)).cursor;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(start_appending(id, "p" + std::to_string(i), kEach));
  }
  for (const auto& child : children) child->send_line("go");
  for (Seq next = 1; next <= kProcesses * kEach;) {
    const ChangeBatch batch = must(shared().changes(cursor, 10, 50s));
    ASSERT_FALSE(batch.changes.empty());
    cursor = batch.cursor;
    for (const Change& change : batch.changes) {
      ASSERT_EQ(describe(change), "appended " + id.str() + " " + std::to_string(next++));
    }
  }
}

TEST_P(Processes, ALeaseHoldsBetweenThem) {
  const ThreadId id = create_thread(shared()).id;
  EXPECT_THAT(run({"lease", id.str(), "there", "60000"}),
              ElementsAre(testing::StartsWith("token ")));
  EXPECT_TRUE(fails(shared().lease(id, "here", 10s, std::nullopt), ErrorCode::kBusy, {"there"}));
  const ThreadId ours = create_thread(shared()).id;
  must(shared().lease(ours, "here", 60s, std::nullopt));
  EXPECT_THAT(run({"lease", ours.str(), "there", "1000"}), ElementsAre("busy"));
}

TEST_P(Processes, ALeaseTakenOverByAnotherFencesTheFirst) {
  const ThreadId id = create_thread(shared()).id;
  const LeaseToken token = must(shared().lease(id, "here", 1ms, std::nullopt)).token;
  std::vector<std::string> answer;
  do {
    answer = run({"lease", id.str(), "there", "60000"});
  } while (answer == std::vector<std::string>{"busy"});
  EXPECT_THAT(answer, ElementsAre(testing::StartsWith("token ")));
  Append append;
  append.thread = id;
  append.event = message("too late");
  append.fence = token;
  EXPECT_TRUE(fails(append_one(shared(), append), ErrorCode::kFenced));
  UpdateOptions options;
  options.fence = token;
  EXPECT_TRUE(fails(shared().update(id, patch(R"({"title":"x"})"), options), ErrorCode::kFenced));
  RecordWrite write = record("runs", "r", "x");
  write.fence = Fence{id, token};
  EXPECT_TRUE(fails(shared().write(std::span(&write, 1)), ErrorCode::kFenced));
}

TEST_P(Processes, RecordsWrittenByAnotherAreSeenAndConflict) {
  RecordWrite ours = record("runs", "r", "ours");
  ours.expect_version = must(shared().write(std::span(&ours, 1))).at(0);
  run({"put", "runs", "r", "theirs"});
  EXPECT_TRUE(fails(shared().write(std::span(&ours, 1)), ErrorCode::kConflict));
  EXPECT_EQ(scan_all(shared(), "runs").at(0).bytes, "theirs");
}

TEST_P(Processes, TwoStoresInOneProcessAreAsTwoProcesses) {
  const std::unique_ptr<Store> other = must(open_store(backend_.url()));
  const ThreadId id = create_thread(shared()).id;
  EXPECT_EQ(must_append(*other, id, message("a")), 1U);
  EXPECT_EQ(must_append(shared(), id, message("b")), 2U);
  must(other->update(id, patch(R"({"title":"x"})"), {}));
  EXPECT_EQ(get_thread(shared(), id).title, "x");
  EXPECT_EQ(must_append(*other, id, message("c")), 3U);
  EXPECT_THAT(texts(read_all(shared(), id)), ElementsAre("a", "b", "c"));
  must(other->remove(id));
  EXPECT_FALSE(exists(shared(), id));
  EXPECT_TRUE(fails(append_one(shared(), id, message("d")), ErrorCode::kNotFound));
}

}  // namespace
}  // namespace skein::test
