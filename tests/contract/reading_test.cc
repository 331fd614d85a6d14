#include "contract/contract.h"

namespace skein::test {
namespace {

ReadRange range(Direction direction, Seq from, std::uint64_t limit = 1000, Seq head = kLastSeq) {
  ReadRange range;
  range.direction = direction;
  range.from = from;
  range.limit = limit;
  range.head = head;
  return range;
}

ReadRange forward(Seq from, std::uint64_t limit = 1000, Seq head = kLastSeq) {
  return range(Direction::kForward, from, limit, head);
}

ReadRange backward(Seq from, std::uint64_t limit = 1000, Seq head = kLastSeq) {
  return range(Direction::kBackward, from, limit, head);
}

ReadRange on_path(ReadRange range) {
  range.view = View::kPath;
  return range;
}

class Reading : public StoreContract {
 protected:
  ThreadId five() {
    return create_thread(store(), "agent",
                         {message("a"), message("b"), message("c"), message("d"), message("e")})
        .id;
  }
};
INSTANTIATE_TEST_SUITE_P(, Reading, testing::ValuesIn(backend_names()), backend_of);

TEST_P(Reading, ForwardsFromAnySeqUpToALimit) {
  const ThreadId id = five();
  EXPECT_THAT(read_seqs(store(), id, forward(0)), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(read_seqs(store(), id, forward(1)), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(read_seqs(store(), id, forward(3)), ElementsAre(3, 4, 5));
  EXPECT_THAT(read_seqs(store(), id, forward(2, 2)), ElementsAre(2, 3));
  EXPECT_THAT(read_seqs(store(), id, forward(5, 1)), ElementsAre(5));
  EXPECT_THAT(read_seqs(store(), id, forward(6)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, forward(kLastSeq)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, forward(1, 0)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id), ElementsAre(1, 2, 3, 4, 5)) << "no limit by default";
}

TEST_P(Reading, BackwardsFromAnySeqUpToALimit) {
  const ThreadId id = five();
  EXPECT_THAT(read_seqs(store(), id, backward(0)), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(read_seqs(store(), id, backward(kLastSeq)), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(read_seqs(store(), id, backward(3)), ElementsAre(3, 2, 1));
  EXPECT_THAT(read_seqs(store(), id, backward(0, 2)), ElementsAre(5, 4));
  EXPECT_THAT(read_seqs(store(), id, backward(1, 5)), ElementsAre(1));
  EXPECT_THAT(read_seqs(store(), id, backward(4, 0)), IsEmpty());
}

TEST_P(Reading, UpToAHead) {
  const ThreadId id = five();
  EXPECT_THAT(read_seqs(store(), id, forward(0, 1000, 3)), ElementsAre(1, 2, 3));
  EXPECT_THAT(read_seqs(store(), id, backward(0, 1000, 3)), ElementsAre(3, 2, 1));
  EXPECT_THAT(read_seqs(store(), id, backward(5, 2, 4)), ElementsAre(4, 3));
  EXPECT_THAT(read_seqs(store(), id, forward(4, 1000, 3)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, forward(0, 1000, 0)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, backward(0, 1000, 0)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, forward(0, 1000, 99)), ElementsAre(1, 2, 3, 4, 5));
}

TEST_P(Reading, AnUnknownOrEmptyThreadDeliversNothing) {
  const ThreadId empty = create_thread(store()).id;
  for (const ThreadId id : {empty, ThreadId::from_bits(77)}) {
    for (const ReadRange& what :
         {forward(0), backward(0), on_path(forward(0)), on_path(backward(0))}) {
      EXPECT_THAT(read_seqs(store(), id, what), IsEmpty());
    }
  }
}

TEST_P(Reading, StopsWhenTheSinkSaysSo) {
  const ThreadId id = five();
  int calls = 0;
  EXPECT_TRUE(ok(store().read(id, forward(0), [&calls](Event&) { return ++calls < 2; })));
  EXPECT_EQ(calls, 2);
}

TEST_P(Reading, GivesTheSinkTheContentsToKeep) {
  const ThreadId id = five();
  std::vector<Event> kept;
  EXPECT_TRUE(ok(store().read(id, forward(0), [&kept](Event& event) {
    kept.push_back(std::move(event));
    event = message("scribbled over");
    return true;
  })));
  EXPECT_THAT(texts(kept), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(texts(read_all(store(), id)), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_P(Reading, LetsTheSinkCallTheStore) {
  const ThreadId id = five();
  const ThreadId copy = create_thread(store()).id;
  std::size_t nested = 0;
  ReadRange first_five = forward(0, 5);
  EXPECT_TRUE(ok(store().read(id, first_five, [&](Event& event) {
    nested += read_seqs(store(), id, forward(1, 2)).size();
    must_append(store(), copy, message(text_of(event)));
    must_append(store(), id, message("more"));
    must(store().update(id, ManifestPatch().title(text_of(event)), {}));
    EXPECT_FALSE(list_ids(store(), {}).empty());
    return true;
  })));
  EXPECT_EQ(nested, 10U);
  EXPECT_THAT(texts(read_all(store(), copy)), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(get_thread(store(), id).last_seq, 10U);
}

TEST_P(Reading, AWholeLongThreadInPartsGivesEachEventOnce) {
  std::vector<Event> events;
  for (int i = 1; i <= 1500; ++i) events.push_back(message("text " + std::to_string(i)));
  const ThreadId id = create_thread(store(), "agent", events).id;
  backend_.reopen();
  std::vector<Seq> seen;
  for (Seq from = 1;; from = seen.back() + 1) {
    const std::vector<Seq> part = read_seqs(store(), id, forward(from, 97));
    if (part.empty()) break;
    seen.insert(seen.end(), part.begin(), part.end());
  }
  ASSERT_THAT(seen, SizeIs(1500));
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i + 1);
  EXPECT_THAT(read_seqs(store(), id, backward(700, 3)), ElementsAre(700, 699, 698));
  EXPECT_EQ(text_of(read_all(store(), id, forward(1203, 1)).at(0)), "text 1203");
}

// 1 ── 2 ── 3            rolled back to 2: 4 continues from 2
//      └── 4 ── 5        edited: 6 continues from 4
//          └── 6 ── 7    begun anew: 8 continues from nothing
// 8 ── 9
class Paths : public StoreContract {
 protected:
  ThreadId branched(std::size_t count) {
    std::vector<Event> events{message("1"), message("2"),
                              message("3"), with_base(message("4"), 2),
                              message("5"), with_base(message("6"), 4),
                              message("7"), with_base(message("8"), 0),
                              message("9")};
    events.resize(count);
    return create_thread(store(), "agent", std::move(events)).id;
  }
};
INSTANTIATE_TEST_SUITE_P(, Paths, testing::ValuesIn(backend_names()), backend_of);

TEST_P(Paths, WithoutBranchesAreTheLog) {
  const ThreadId id = branched(3);
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(0))), ElementsAre(1, 2, 3));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(0))), ElementsAre(3, 2, 1));
}

TEST_P(Paths, AfterARollbackReadAsIfItHadNotBeenWhileTheLogStillHasIt) {
  const ThreadId id = branched(3);
  EXPECT_EQ(must_append(store(), id, with_base(message("4"), 2)), 4U);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(read_seqs(store(), id, on_path(forward(0))), ElementsAre(1, 2, 4));
    EXPECT_THAT(read_seqs(store(), id), ElementsAre(1, 2, 3, 4));
    backend_.reopen();
  }
  must_append(store(), id, message("5"));
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(0))), ElementsAre(1, 2, 4, 5));
}

TEST_P(Paths, FollowABranchOfABranchInBothDirections) {
  const ThreadId id = branched(7);
  backend_.reopen();
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(0))), ElementsAre(1, 2, 4, 6, 7));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(0))), ElementsAre(7, 6, 4, 2, 1));
}

TEST_P(Paths, BeginAnewAfterABaseOfZero) {
  const ThreadId id = branched(9);
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(0))), ElementsAre(8, 9));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(0))), ElementsAre(9, 8));
  EXPECT_THAT(read_seqs(store(), id), SizeIs(9));
}

TEST_P(Paths, CanBeCutByFromAndLimit) {
  const ThreadId id = branched(7);
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(2, 2))), ElementsAre(2, 4));
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(3))), ElementsAre(4, 6, 7));
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(5, 1))), ElementsAre(6));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(5))), ElementsAre(4, 2, 1));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(6, 2))), ElementsAre(6, 4));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(0, 3))), ElementsAre(7, 6, 4));
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(8))), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(0, 0))), IsEmpty());
}

TEST_P(Paths, RunBackFromAnyHead) {
  const ThreadId id = branched(9);
  const auto to_head = [](Seq head) { return on_path(forward(0, 1000, head)); };
  EXPECT_THAT(read_seqs(store(), id, to_head(0)), IsEmpty());
  EXPECT_THAT(read_seqs(store(), id, to_head(1)), ElementsAre(1));
  EXPECT_THAT(read_seqs(store(), id, to_head(3)), ElementsAre(1, 2, 3));
  EXPECT_THAT(read_seqs(store(), id, to_head(4)), ElementsAre(1, 2, 4));
  EXPECT_THAT(read_seqs(store(), id, to_head(5)), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(read_seqs(store(), id, to_head(7)), ElementsAre(1, 2, 4, 6, 7));
  EXPECT_THAT(read_seqs(store(), id, to_head(8)), ElementsAre(8));
  EXPECT_THAT(read_seqs(store(), id, to_head(50)), ElementsAre(8, 9));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(0, 3, 5))), ElementsAre(5, 4, 2));
  EXPECT_THAT(read_seqs(store(), id, on_path(backward(3, 9, 7))), ElementsAre(2, 1));
}

TEST_P(Paths, GoOnFromABranchThatWasLeft) {
  const ThreadId id = branched(7);
  EXPECT_EQ(must_append(store(), id, with_base(message("8"), 3)), 8U);
  EXPECT_EQ(must_append(store(), id, message("9")), 9U);
  EXPECT_EQ(must_append(store(), id, with_base(message("10"), 9)), 10U);
  backend_.reopen();
  EXPECT_THAT(read_seqs(store(), id, on_path(forward(0))), ElementsAre(1, 2, 3, 8, 9, 10));
}

TEST_P(Paths, WithManyBranchesAreReadWhole) {
  const ThreadId id = create_thread(store()).id;
  std::vector<Append> appends;
  std::vector<Seq> path;
  for (Seq seq = 1; seq <= 600; ++seq) {
    Append append;
    append.thread = id;
    append.event = message(std::to_string(seq));
    if (seq % 3 == 0) append.event.base = seq - 2;
    if (seq % 3 != 2) path.push_back(seq);
    appends.push_back(std::move(append));
  }
  for (const Result<Appended>& result : store().append(appends)) must(result);
  backend_.reopen();
  EXPECT_EQ(read_seqs(store(), id, on_path(forward(0))), path);
  EXPECT_EQ(read_seqs(store(), id, on_path(forward(0, 1000, 600))), path);
}

}  // namespace
}  // namespace skein::test
