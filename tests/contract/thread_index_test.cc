// What is kept beside a thread says what reading all of it would say, whatever happened in between.
#include <random>

#include "contract.h"
#include "core/json_edit.h"
#include "skein/context.h"
#include "support/random_thread.h"
#include "thread/thread_index.h"

namespace skein::test {
namespace {

class ThreadIndexes : public StoreContract {
 protected:
  // What the index says of the thread, but for what tells where it was stored.
  static std::string said_by(ThreadIndex& index, std::uint64_t seed) {
    IndexHead head = index.head();
    head.generation = 0;
    head.thread_version = 0;
    head.cursor.clear();
    std::string said = format_head(head);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20 && index.last() > 0; ++i) {
      const Seq first = 1 + random() % index.last();
      const SeqRange range{first, first + random() % (index.last() - first + 1)};
      said += " " + std::to_string(must(index.cost(range)).tokens) + "/" +
              std::to_string(must(index.newest_user(SeqSet({range}))));
    }
    return said;
  }

  void expect_right(ThreadId thread) {
    ThreadIndex kept = must(ThreadIndex::load(store(), thread));
    const std::string said = said_by(kept, kept.last());
    ThreadIndex fresh = must(ThreadIndex::load(store(), thread, ThreadIndex::Stored::kIgnore));
    EXPECT_EQ(said, said_by(fresh, fresh.last()));
    EXPECT_EQ(kept.last(), get_thread(store(), thread).last_seq);
  }

  void append_many(ThreadId thread, std::mt19937_64& random, std::size_t count) {
    Seq last = get_thread(store(), thread).last_seq;
    std::vector<Append> batch;
    for (std::size_t i = 0; i < count; ++i) {
      batch.push_back({thread, random_conversation_event(random, last + i), {}, {}});
    }
    for (const auto& answer : store().append(batch)) ASSERT_TRUE(ok(answer));
  }

  std::size_t records() { return scan_all(store(), kIndexCollection).size(); }
};

INSTANTIATE_TEST_SUITE_P(, ThreadIndexes, testing::ValuesIn(backend_names()), backend_of);

TEST_P(ThreadIndexes, SayWhatReadingAllWouldSayHoweverTheThreadGrew) {
  std::mt19937_64 random(3);
  const ThreadId thread = create_thread(store()).id;
  expect_right(thread);
  for (const std::size_t count : {1u, 100u, 200u, 30u, 4000u, 1u, 150u, 5000u, 60u}) {
    append_many(thread, random, count);
    expect_right(thread);
    if (random() % 2 == 0) backend_.reopen();
  }
  EXPECT_GT(records(), 2u);
}

TEST_P(ThreadIndexes, OfShortThreadsAreNotStored) {
  std::mt19937_64 random(4);
  const ThreadId thread = create_thread(store()).id;
  append_many(thread, random, 100);
  expect_right(thread);
  EXPECT_EQ(records(), 0u);
}

TEST_P(ThreadIndexes, OutliveChangesOfTheManifest) {
  std::mt19937_64 random(5);
  const ThreadId thread = create_thread(store()).id;
  append_many(thread, random, 300);
  expect_right(thread);
  const auto before = scan_all(store(), kIndexCollection);
  must(store().update(thread, patch(R"({"title":"another"})"), {}));
  append_many(thread, random, 10);
  must(ThreadIndex::load(store(), thread));
  const auto after = scan_all(store(), kIndexCollection);
  ASSERT_EQ(before.size(), after.size());
  EXPECT_EQ(before.front().version, after.front().version) << "made anew for a title";
  expect_right(thread);
}

TEST_P(ThreadIndexes, AreNotThoseOfAThreadThatHadTheIdBefore) {
  std::mt19937_64 random(6);
  NewThread request;
  request.agent_id = "agent";
  request.id = ThreadId::from_bits(77);
  request.fields.set("createdAt", "2026-01-01T00:00:00.000Z");
  must(store().create(request));
  append_many(*request.id, random, 400);
  expect_right(*request.id);
  // The same id, the same time of creation, more events than before, and others.
  must(store().remove(*request.id));
  must(store().create(request));
  append_many(*request.id, random, 500);
  expect_right(*request.id);
  must(store().update(*request.id, patch(R"({"title":"second"})"), {}));
  expect_right(*request.id);
  must(forget_context(store(), *request.id));
  EXPECT_EQ(records(), 0u);
  expect_right(*request.id);
}

TEST_P(ThreadIndexes, AreMadeAnewWhereWhatIsStoredIsNonsense) {
  std::mt19937_64 random(8);
  const ThreadId thread = create_thread(store()).id;
  append_many(thread, random, 5000);
  expect_right(thread);
  ContextRequest request;
  request.max_tokens = 100'000;
  const std::string before = to_json(must(make_context(store(), thread, request)));
  for (const Record& record : scan_all(store(), kIndexCollection)) {
    const RecordWrite nonsense = test::record(kIndexCollection, record.key, "nonsense");
    must(store().write({&nonsense, 1}));
    EXPECT_EQ(to_json(must(make_context(store(), thread, request))), before) << record.key;
    const RecordWrite gone = deletion(kIndexCollection, record.key);
    must(store().write({&gone, 1}));
    EXPECT_EQ(to_json(must(make_context(store(), thread, request))), before) << record.key;
  }
}

TEST_P(ThreadIndexes, AreMadeAnewWhereNoThreadCanHaveWhatTheySay) {
  std::mt19937_64 random(10);
  const ThreadId thread = create_thread(store()).id;
  append_many(thread, random, 300);
  append_many(thread, random, 1);
  must_append(store(), thread, tool_use("t"));
  ContextRequest request;
  request.max_tokens = 100'000;
  const std::string before = to_json(must(make_context(store(), thread, request)));
  for (const auto& [member, value] : std::vector<std::pair<std::string, std::string>>{
           {"summaries", "[[5,[]]]"},
           {"summaries", "[[5,[[0,18446744073709551615]]]]"},
           {"summaries", "[[5,[[1,5]]]]"},
           {"summaries", "[[5,[[3,4],[1,2]]]]"},
           {"summaries", "[[7,[[1,2]]],[5,[[1,2]]]]"},
           {"branches", "[[0,5]]"},
           {"branches", "[[5,7]]"},
           {"branches", "[[300,299],[5,3],[7,6]]"},
           {"unreadable", "[18446744073709551615,0,5]"},
           {"system", "[1,9999999]"},
           {"decisions", "[0]"},
           {"undos", "[[4,3],[3,3]]"},
           {"chunks", "[[2100,4000,0]]"},
           {"chunks", "[[2100,302,0]]"},
           {"events", "18446744073709551615"}}) {
    SCOPED_TRACE(member + " " + value);
    must(ThreadIndex::load(store(), thread));
    for (const Record& stored : scan_all(store(), kIndexCollection)) {
      if (stored.key != thread.str()) continue;
      const std::string text = must(json_with(stored.bytes, {member}, value));
      const RecordWrite write = test::record(kIndexCollection, stored.key, text);
      must(store().write({&write, 1}));
    }
    EXPECT_EQ(to_json(must(make_context(store(), thread, request))), before);
    must(forget_context(store(), thread));
  }
}

TEST_P(ThreadIndexes, OfAForkAreItsOwn) {
  std::mt19937_64 random(9);
  const ThreadId thread = create_thread(store()).id;
  append_many(thread, random, 400);
  expect_right(thread);
  NewThread request;
  request.agent_id = "agent";
  request.from = Parent{thread, 200};
  const ThreadId fork = must(store().create(request)).id;
  append_many(fork, random, 300);
  expect_right(fork);
  expect_right(thread);
}

}  // namespace
}  // namespace skein::test
