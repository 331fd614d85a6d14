// What became of every event of a thread, gathered in ranges.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "skein/context.h"
#include "thread/event_cost.h"
#include "thread/seq_set.h"

namespace skein {

class Ledger {
 public:
  explicit Ledger(Seq last) : last_(last) {}

  // Later marks replace earlier ones.
  void mark(const SeqSet& seqs, Disposition what, const std::string& why);
  // Takes events out: they will not be listed.
  void drop(const SeqSet& seqs);

  // In rising order; neighbours of which the same is said become one. `cost` is asked for each.
  using Cost = std::function<Result<EventCost>(const SeqRange& range, Disposition what)>;
  Result<std::vector<LedgerEntry>> entries(const Cost& cost) const;

 private:
  struct Mark {
    bool listed = false;
    Disposition what = Disposition::kLeftOut;
    std::string why;
    friend bool operator==(const Mark&, const Mark&) = default;
  };

  void put(const SeqRange& range, const Mark& mark);

  const Seq last_;
  std::map<Seq, Mark> marks_{{1, {}}};  // from its key up to the next one's
};

}  // namespace skein
