// What a store remembers of threads is what is in the file, whoever wrote it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/builders.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SqliteKnownThreads : public testing::Test {
 protected:
  std::unique_ptr<Store> open() const {
    return must(open_store("sqlite:" + (folder_.path() / "x.db").string()));
  }

  TempDir folder_;
  std::unique_ptr<Store> mine_ = open();
  std::unique_ptr<Store> others_ = open();
};

TEST_F(SqliteKnownThreads, AreAsAnotherProcessLeftThem) {
  const ThreadId id = create_thread(*mine_, "agent", {message("one")}).id;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(get_thread(*mine_, id).last_seq, Seq(1 + 2 * i));
    EXPECT_EQ(read_all(*mine_, id).size(), std::size_t(1 + 2 * i));
    must_append(*others_, id, message("theirs"));
    EXPECT_EQ(get_thread(*mine_, id).last_seq, Seq(2 + 2 * i));
    EXPECT_EQ(texts(read_all(*mine_, id)).back(), "theirs");
    must_append(*mine_, id, message("mine"));
    EXPECT_EQ(texts(read_all(*others_, id)).back(), "mine");
  }
  must(others_->update(id, patch(R"({"title":"t"})"), {}));
  EXPECT_EQ(get_thread(*mine_, id).title, "t");
  must(others_->remove(id));
  EXPECT_FALSE(exists(*mine_, id));
  EXPECT_THAT(read_all(*mine_, id), IsEmpty());
  EXPECT_THAT(list_ids(*mine_, {}), IsEmpty());
}

TEST_F(SqliteKnownThreads, AreFoundByAnAliasThatWentToAnotherThread) {
  const std::string alias = "12345678-9a57-4b0e-8f5e-0c1d2e3f4a5b";
  NewThread thread;
  thread.agent_id = "agent";
  thread.alias = alias;
  const auto id_of = [&](Store& store) {
    const auto found = must(store.get(must(ThreadRef::parse(alias))));
    return found ? std::optional(found->id) : std::nullopt;
  };
  for (Store* store : {mine_.get(), others_.get(), mine_.get()}) {
    const ThreadId id = must(store->create(thread)).id;
    EXPECT_EQ(id_of(*mine_), id);
    EXPECT_EQ(id_of(*others_), id);
    must(store->remove(id));
    EXPECT_EQ(id_of(*mine_), std::nullopt);
    EXPECT_EQ(id_of(*others_), std::nullopt);
  }
}

TEST_F(SqliteKnownThreads, HaveTheirPathWhereTheyWereBranchedSinceTheyWereRead) {
  const ThreadId id = create_thread(*mine_, "agent", {message("one"), message("two")}).id;
  const ReadRange path{.view = View::kPath};
  get_thread(*mine_, id);
  EXPECT_THAT(texts(read_all(*mine_, id, path)), ElementsAre("one", "two"));
  must_append(*mine_, id, with_base(message("other two"), 1));
  must_append(*mine_, id, message("three"));
  EXPECT_THAT(texts(read_all(*mine_, id, path)), ElementsAre("one", "other two", "three"));
  EXPECT_THAT(texts(read_all(*mine_, id)), ElementsAre("one", "two", "other two", "three"));
}

TEST_F(SqliteKnownThreads, HaveAllEventsSinceTheyWereMade) {
  const ThreadId id = create_thread(*mine_).id;
  EXPECT_THAT(read_all(*mine_, id), IsEmpty());
  EXPECT_THAT(read_all(*mine_, id, {.direction = Direction::kBackward, .view = View::kPath}),
              IsEmpty());
  must_append(*mine_, id, message("one"));
  must_append(*mine_, id, message("two"));
  must_append(*mine_, id, with_base(message("other two"), 1));
  EXPECT_THAT(texts(read_all(*mine_, id)), ElementsAre("one", "two", "other two"));
  EXPECT_THAT(texts(read_all(*mine_, id, {.view = View::kPath})), ElementsAre("one", "other two"));
  must_append(*others_, id, message("theirs"));
  EXPECT_THAT(texts(read_all(*mine_, id)), ElementsAre("one", "two", "other two", "theirs"));
}

TEST_F(SqliteKnownThreads, HaveTheirPathWithMoreBranchesThanAreRemembered) {
  const ThreadId id = create_thread(*mine_, "agent", {message("one")}).id;
  for (int i = 0; i < 200; ++i) {
    must_append(*mine_, id, with_base(message(std::to_string(i)), 1));
    EXPECT_THAT(texts(read_all(*mine_, id, {.view = View::kPath})),
                ElementsAre("one", std::to_string(i)));
  }
}

TEST_F(SqliteKnownThreads, HaveWhatWasAppendedBeforeAnybodyRead) {
  const ThreadId id = create_thread(*mine_).id;
  for (int i = 0; i < 40; ++i) must_append(*mine_, id, message(std::to_string(i)));
  EXPECT_EQ(read_all(*mine_, id).size(), 40U);
  EXPECT_EQ(texts(read_all(*mine_, id, {.from = 38})),
            (std::vector<std::string>{"37", "38", "39"}));
}

TEST_F(SqliteKnownThreads, AreReadAgainWhenAnotherWroteToAnEmptyOne) {
  const ThreadId id = create_thread(*mine_).id;
  must_append(*others_, id, message("theirs"));
  must_append(*mine_, id, message("mine"));
  EXPECT_THAT(texts(read_all(*mine_, id)), ElementsAre("theirs", "mine"));
}

TEST_F(SqliteKnownThreads, NeverShowLessThanWasAcknowledged) {
  const ThreadId id = create_thread(*mine_).id;
  std::atomic<Seq> acknowledged{0};
  std::atomic<int> wrong{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const Seq least = acknowledged;
        if (get_thread(*mine_, id).last_seq < least) ++wrong;
        if (read_all(*mine_, id, {.direction = Direction::kBackward}).size() < least) ++wrong;
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    Store& store = i % 7 == 0 ? *others_ : *mine_;
    acknowledged = must_append(store, id, message("more"));
  }
  readers.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace skein::test
