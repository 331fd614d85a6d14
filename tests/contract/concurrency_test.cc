#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "contract/contract.h"

namespace skein::test {
namespace {

constexpr int kWriters = 16;
constexpr int kEach = 25;

SKEIN_ON_EVERY_BACKEND(Concurrency);

// Runs `work(0)` … `work(count - 1)` at the same time, and waits for all.
template <class Work>
void at_once(int count, const Work& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
}

std::string name_of(int writer, int turn) {
  return std::to_string(writer) + "-" + std::to_string(turn);
}

TEST_P(Concurrency, SixteenWritersToOneThreadLoseNothingAndLeaveNoGap) {
  const ThreadId id = create_thread(store()).id;
  std::vector<std::map<Seq, std::string>> acknowledged(kWriters);
  at_once(kWriters, [&](int writer) {
    for (int turn = 0; turn < kEach; ++turn) {
      const std::string text = name_of(writer, turn);
      acknowledged[static_cast<std::size_t>(writer)][must_append(store(), id, message(text))] =
          text;
    }
  });
  backend_.reopen();
  std::map<Seq, std::string> expected;
  for (const auto& part : acknowledged) expected.insert(part.begin(), part.end());
  ASSERT_THAT(expected, SizeIs(kWriters * kEach)) << "a seq was given twice";
  const std::vector<Event> events = read_all(store(), id);
  ASSERT_THAT(events, SizeIs(kWriters * kEach));
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].seq, i + 1);
    ASSERT_EQ(text_of(events[i]), expected[i + 1]);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    int turn = 0;
    for (const auto& [seq, text] : acknowledged[static_cast<std::size_t>(writer)]) {
      ASSERT_EQ(text, name_of(writer, turn++)) << "a writer's own events keep their order";
    }
  }
}

TEST_P(Concurrency, WritersToDifferentThreadsEachGetTheirOwn) {
  std::vector<ThreadId> ids;
  for (int i = 0; i < kWriters; ++i) ids.push_back(create_thread(store()).id);
  at_once(kWriters, [&](int writer) {
    const ThreadId id = ids[static_cast<std::size_t>(writer)];
    for (int turn = 0; turn < kEach; ++turn) {
      EXPECT_EQ(must_append(store(), id, message(name_of(writer, turn))),
                static_cast<Seq>(turn + 1));
    }
  });
  backend_.reopen();
  for (int writer = 0; writer < kWriters; ++writer) {
    const std::vector<Event> events = read_all(store(), ids[static_cast<std::size_t>(writer)]);
    ASSERT_THAT(events, SizeIs(kEach));
    for (int turn = 0; turn < kEach; ++turn) {
      EXPECT_EQ(text_of(events[static_cast<std::size_t>(turn)]), name_of(writer, turn));
    }
  }
}

TEST_P(Concurrency, ReadersSeeAGaplessBeginningWhileOthersWrite) {
  const ThreadId id = create_thread(store()).id;
  std::atomic<int> writing = 4;
  at_once(8, [&](int worker) {
    if (worker < 4) {
      for (int turn = 0; turn < 60; ++turn)
        must_append(store(), id, message(name_of(worker, turn)));
      --writing;
      return;
    }
    Seq longest = 0;
    while (writing > 0) {
      const Seq known = get_thread(store(), id).last_seq;
      const std::vector<Seq> seqs = read_seqs(store(), id);
      ASSERT_GE(seqs.size(), known) << "what a reader was told of is there";
      ASSERT_GE(seqs.size(), longest) << "what was seen once stays";
      longest = seqs.size();
      for (std::size_t i = 0; i < seqs.size(); ++i) ASSERT_EQ(seqs[i], i + 1);
      ASSERT_THAT(list_ids(store(), {}), SizeIs(1));
    }
  });
  EXPECT_EQ(get_thread(store(), id).last_seq, 240U);
}

TEST_P(Concurrency, ExpectedVersionsLetEveryIncrementThroughOnce) {
  const ThreadId id = create_thread(store()).id;
  must(store().update(id, patch(R"({"summary":"0"})"), {}));
  std::atomic<int> done = 0;
  at_once(8, [&](int) {
    for (int left = 10; left > 0;) {
      const Manifest now = get_thread(store(), id);
      UpdateOptions options;
      options.expect_version = now.version;
      const std::string next = std::to_string(std::stoi(*now.summary) + 1);
      const Result<Manifest> updated =
          store().update(id, ManifestPatch().set("summary", next), options);
      if (!updated.has_value()) {
        ASSERT_TRUE(fails(updated, ErrorCode::kConflict));
        continue;
      }
      --left;
      ++done;
    }
  });
  EXPECT_EQ(get_thread(store(), id).summary, "80");
}

TEST_P(Concurrency, OneOfManyGetsTheLeaseAndOnlyItWrites) {
  const ThreadId id = create_thread(store()).id;
  std::atomic<int> holders = 0;
  std::atomic<LeaseToken> token = 0;
  at_once(8, [&](int worker) {
    const Result<Lease> lease = store().lease(id, "w" + std::to_string(worker), 1h, std::nullopt);
    if (lease.has_value()) {
      ++holders;
      token = lease->token;
    } else {
      EXPECT_TRUE(fails(lease, ErrorCode::kBusy));
    }
  });
  EXPECT_EQ(holders, 1);
  Append append;
  append.thread = id;
  append.event = message("mine");
  append.fence = token;
  EXPECT_TRUE(ok(append_one(store(), append)));
}

TEST_P(Concurrency, TheSameKeyFromManyIsWrittenOnce) {
  const ThreadId id = create_thread(store()).id;
  std::atomic<int> first = 0;
  at_once(8, [&](int) {
    for (int turn = 0; turn < 10; ++turn) {
      const std::string text = std::to_string(turn);
      const Appended answer = must(append_one(store(), id, with_key(message(text), text)));
      if (!answer.repeated) ++first;
    }
  });
  EXPECT_EQ(first, 10);
  const std::vector<std::string> all = texts(read_all(store(), id));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 10U);
  EXPECT_THAT(all, SizeIs(10));
}

TEST_P(Concurrency, OneOfManyCreatesAThreadOfAGivenIdOrAlias) {
  std::atomic<int> made = 0;
  at_once(8, [&](int worker) {
    NewThread thread;
    thread.agent_id = "agent";
    if (worker % 2 == 0) thread.id = ThreadId::from_bits(42);
    thread.alias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";
    const Result<Manifest> result = store().create(thread);
    if (result.has_value()) {
      ++made;
    } else {
      EXPECT_TRUE(fails(result, ErrorCode::kConflict));
    }
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Concurrency, AFollowerOfTheFeedMissesNothingAndSeesNothingTwice) {
  std::vector<ThreadId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(create_thread(store()).id);
  std::string cursor(Store::kNow);
  cursor = must(store().changes(cursor, 1, 0ms)).cursor;
  constexpr int kTurns = 40;
  std::map<ThreadId, std::vector<Seq>> seen;
  int written = 0;
  {
    std::vector<std::jthread> writers;
    for (const ThreadId id : ids) {
      writers.emplace_back([this, id] {
        for (int turn = 0; turn < kTurns; ++turn) {
          must_append(store(), id, message("x"));
          if (turn % 8 == 0) {
            const std::string key = id.str() + std::to_string(turn);
            must(store().write(std::vector{record("runs", key, "x")}));
          }
        }
      });
    }
    const int expected = 4 * kTurns + 4 * kTurns / 8;
    for (int total = 0; total < expected;) {
      const ChangeBatch batch = must(store().changes(cursor, 7, 60s));
      ASSERT_FALSE(batch.changes.empty()) << total << " of " << expected << " in a minute";
      cursor = batch.cursor;
      for (const Change& change : batch.changes) {
        ++total;
        if (change.kind == ChangeKind::kAppended) seen[change.thread].push_back(change.seq);
        if (change.kind == ChangeKind::kRecordWritten) ++written;
      }
    }
  }
  EXPECT_THAT(drain(store(), cursor), IsEmpty());
  EXPECT_EQ(written, 4 * kTurns / 8);
  for (const ThreadId id : ids) {
    ASSERT_THAT(seen[id], SizeIs(kTurns));
    for (std::size_t i = 0; i < seen[id].size(); ++i) ASSERT_EQ(seen[id][i], i + 1);
  }
}

TEST_P(Concurrency, RemovingWhileOthersAppendLeavesNoRemains) {
  for (int round = 0; round < 5; ++round) {
    const ThreadId id = create_thread(store()).id;
    at_once(5, [&](int worker) {
      if (worker == 0) {
        must(store().remove(id));
        return;
      }
      for (int turn = 0; turn < 10; ++turn) {
        const Result<Appended> result = append_one(store(), id, message("x"));
        if (result.has_value()) continue;
        EXPECT_TRUE(fails(result, ErrorCode::kNotFound));
        break;
      }
    });
    EXPECT_FALSE(exists(store(), id));
    EXPECT_THAT(read_all(store(), id), IsEmpty());
  }
  backend_.reopen();
  EXPECT_EQ(thread_count(), 0U);
}

}  // namespace
}  // namespace skein::test
