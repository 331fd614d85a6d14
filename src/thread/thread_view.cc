#include "thread/thread_view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace skein {
namespace {

SeqSet current_path(const IndexHead& head) {
  std::vector<SeqRange> ranges;
  for (const SeqSpan& span : path_to(head.events, head.branches)) {
    ranges.push_back({span.first, span.last});
  }
  return SeqSet(std::move(ranges));
}

const SummaryMark* summary_at(const IndexHead& head, Seq seq) {
  const auto at =
      std::lower_bound(head.summaries.begin(), head.summaries.end(), seq,
                       [](const SummaryMark& mark, Seq value) { return mark.seq < value; });
  return at != head.summaries.end() && at->seq == seq ? &*at : nullptr;
}

// Undone summaries and their undoing. An undoing of what is no summary on the path undoes nothing.
SeqSet cancelled_on(const IndexHead& head, const SeqSet& path) {
  std::set<Seq> cancelled;
  for (const UndoMark& undo : head.undos) {
    const bool on_path = path.contains(undo.seq) && path.contains(undo.summary);
    if (!on_path || undo.summary > undo.seq || summary_at(head, undo.summary) == nullptr) continue;
    if (cancelled.insert(undo.summary).second) cancelled.insert(undo.seq);
  }
  return seq_set_of({cancelled.begin(), cancelled.end()});
}

}  // namespace

namespace {

// What summaries cover, newest first. Each is added once, however many there are.
class Covered {
 public:
  bool contains(Seq seq) const {
    const auto after = ranges_.upper_bound(seq);
    return after != ranges_.begin() && seq <= std::prev(after)->second;
  }
  void add(SeqRange range) {
    auto at = ranges_.upper_bound(range.first);
    if (at != ranges_.begin() && std::prev(at)->second >= range.first) --at;
    while (at != ranges_.end() && at->first <= range.last) {
      range = {std::min(range.first, at->first), std::max(range.last, at->second)};
      at = ranges_.erase(at);
    }
    ranges_.emplace(range.first, range.last);
  }
  SeqSet set() const {
    std::vector<SeqRange> ranges;
    for (const auto& [first, last] : ranges_) ranges.push_back({first, last});
    return SeqSet(std::move(ranges));
  }

 private:
  std::map<Seq, Seq> ranges_;  // first to last, apart from each other
};

}  // namespace

ThreadView view_of(const IndexHead& head) {
  ThreadView view;
  view.path = current_path(head);
  view.cancelled = cancelled_on(head, view.path);
  for (const Seq seq : head.system) {
    if (view.path.contains(seq)) view.system.push_back(seq);
  }
  Covered covered;
  for (auto mark = head.summaries.rbegin(); mark != head.summaries.rend(); ++mark) {
    if (!view.path.contains(mark->seq) || view.cancelled.contains(mark->seq)) continue;
    if (covered.contains(mark->seq)) continue;  // by a later one
    for (const SeqRange& range : mark->covers) covered.add(range);
    view.in_force.push_back(*mark);
  }
  std::reverse(view.in_force.begin(), view.in_force.end());
  view.covered =
      covered.set().common(view.path).without(seq_set_of(view.system)).without(view.cancelled);
  return view;
}

const SummaryMark* find_summary(const IndexHead& head, const ThreadView& view, Seq seq) {
  if (!view.path.contains(seq) || view.cancelled.contains(seq)) return nullptr;
  return summary_at(head, seq);
}

}  // namespace skein
