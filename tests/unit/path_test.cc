// The arithmetic of branches, against the definition: from each event to its base, or to the one
// before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "store/checks.h"

namespace skein::test {
namespace {

std::vector<Seq> spelled_out(const std::vector<SeqSpan>& spans, Direction direction) {
  std::vector<Seq> seqs;
  for (const SeqSpan& span : spans) {
    std::vector<Seq> part;
    for (Seq seq = span.first; seq <= span.last; ++seq) part.push_back(seq);
    if (direction == Direction::kBackward) std::reverse(part.begin(), part.end());
    seqs.insert(seqs.end(), part.begin(), part.end());
  }
  return seqs;
}

std::vector<Seq> walk(Seq head, const std::vector<Branch>& branches) {
  std::map<Seq, Seq> base;
  for (const Branch& branch : branches) base[branch.seq] = branch.base;
  std::vector<Seq> path;
  for (Seq seq = head; seq > 0; seq = base.contains(seq) ? base[seq] : seq - 1) path.push_back(seq);
  return path;
}

TEST(Path, OfAThreadWithoutBranchesIsAllOfIt) {
  EXPECT_THAT(spelled_out(path_to(3, {}), Direction::kForward), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(path_to(0, {}), testing::IsEmpty());
}

TEST(Path, AgreesWithTheDefinitionForRandomBranchesHeadsAndRanges) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const Seq last = random() % 16;
    std::vector<Branch> branches;
    for (Seq seq = 1; seq <= last; ++seq) {
      if (random() % 3 == 0) branches.push_back({seq, random() % seq});
    }
    ReadRange range;
    range.from = random() % 3 == 0 ? 0 : random() % 20;
    range.head = random() % 2 == 0 ? kLastSeq : random() % 20;
    range.direction = random() % 2 == 0 ? Direction::kForward : Direction::kBackward;
    range.view = random() % 4 == 0 ? View::kLog : View::kPath;

    const Seq head = std::min(range.head, last);
    std::vector<Seq> expected =
        walk(head, range.view == View::kPath ? branches : std::vector<Branch>{});
    const bool forward = range.direction == Direction::kForward;
    std::erase_if(expected, [&](Seq seq) {
      return range.from != 0 && (forward ? seq < range.from : seq > range.from);
    });
    if (forward) std::reverse(expected.begin(), expected.end());
    ASSERT_EQ(spelled_out(plan_read(range, last, branches), range.direction), expected)
        << "round " << round << ", from " << range.from << ", head " << range.head;
  }
}

}  // namespace
}  // namespace skein::test
