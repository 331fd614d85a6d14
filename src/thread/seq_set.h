// Sets of positions as ranges.
#pragma once

#include <vector>

#include "skein/summary.h"

namespace skein {

// Ranges in rising order that neither overlap nor touch.
class SeqSet {
 public:
  SeqSet() = default;
  explicit SeqSet(std::vector<SeqRange> ranges);  // in any order; empty ones are dropped

  const std::vector<SeqRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool contains(Seq seq) const;
  std::uint64_t size() const;

  SeqSet united(const SeqSet& other) const;
  SeqSet without(const SeqSet& other) const;
  SeqSet common(const SeqSet& other) const { return without(without(other)); }

 private:
  std::vector<SeqRange> ranges_;
};

SeqSet seq_set_of(const std::vector<Seq>& seqs);

}  // namespace skein
