#include "thread/seq_set.h"

#include <algorithm>

namespace skein {

SeqSet::SeqSet(std::vector<SeqRange> ranges) {
  std::erase_if(ranges, [](const SeqRange& range) { return range.first > range.last; });
  std::sort(ranges.begin(), ranges.end(),
            [](const SeqRange& a, const SeqRange& b) { return a.first < b.first; });
  for (const SeqRange& range : ranges) {
    // Written so that it holds for the highest number, too.
    const bool apart = ranges_.empty() ||
                       (range.first > ranges_.back().last && range.first - ranges_.back().last > 1);
    if (!apart) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool SeqSet::contains(Seq seq) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), seq,
                       [](Seq value, const SeqRange& range) { return value < range.first; });
  return after != ranges_.begin() && seq <= std::prev(after)->last;
}

std::uint64_t SeqSet::size() const {
  std::uint64_t size = 0;
  for (const SeqRange& range : ranges_) size += range.last - range.first + 1;
  return size;
}

SeqSet SeqSet::united(const SeqSet& other) const {
  std::vector<SeqRange> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return SeqSet(std::move(all));
}

SeqSet SeqSet::without(const SeqSet& other) const {
  SeqSet left;
  auto cut = other.ranges_.begin();
  for (SeqRange range : ranges_) {
    while (cut != other.ranges_.end() && cut->last < range.first) ++cut;
    bool any = true;
    for (auto at = cut; any && at != other.ranges_.end() && at->first <= range.last; ++at) {
      if (at->first > range.first) left.ranges_.push_back({range.first, at->first - 1});
      any = at->last < range.last;
      if (any) range.first = at->last + 1;
    }
    if (any) left.ranges_.push_back(range);
  }
  return left;
}

SeqSet seq_set_of(const std::vector<Seq>& seqs) {
  std::vector<SeqRange> ranges;
  ranges.reserve(seqs.size());
  for (const Seq seq : seqs) ranges.push_back({seq, seq});
  return SeqSet(std::move(ranges));
}

}  // namespace skein
