#include "thread/ledger.h"

#include <iterator>

#include "core/try.h"

namespace skein {

void Ledger::put(const SeqRange& range, const Mark& mark) {
  const auto after = marks_.upper_bound(range.last + 1);
  const Mark rest = std::prev(after)->second;
  marks_.erase(marks_.lower_bound(range.first), after);
  marks_.insert_or_assign(range.first, mark);
  marks_.insert_or_assign(range.last + 1, rest);
}

void Ledger::mark(const SeqSet& seqs, Disposition what, const std::string& why) {
  for (const SeqRange& range : seqs.ranges()) put(range, {true, what, why});
}

void Ledger::drop(const SeqSet& seqs) {
  for (const SeqRange& range : seqs.ranges()) put(range, {});
}

Result<std::vector<LedgerEntry>> Ledger::entries(const Cost& cost) const {
  std::vector<LedgerEntry> entries;
  for (auto at = marks_.begin(); at != marks_.end() && at->first <= last_;) {
    auto end = std::next(at);
    while (end != marks_.end() && end->second == at->second) ++end;
    const SeqRange range{at->first, end == marks_.end() ? last_ : std::min(end->first - 1, last_)};
    const Mark& mark = at->second;
    at = end;
    if (!mark.listed) continue;
    SKEIN_ASSIGN(const EventCost sum, cost(range, mark.what));
    entries.push_back({range, mark.what, mark.why, sum.tokens, sum.estimated});
  }
  return entries;
}

}  // namespace skein
