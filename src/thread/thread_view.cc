#include "thread/thread_view.h"

#include <algorithm>
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

ThreadView view_of(const IndexHead& head) {
  ThreadView view;
  view.path = current_path(head);
  view.cancelled = cancelled_on(head, view.path);
  for (const Seq seq : head.system) {
    if (view.path.contains(seq)) view.system.push_back(seq);
  }
  for (auto mark = head.summaries.rbegin(); mark != head.summaries.rend(); ++mark) {
    if (!view.path.contains(mark->seq) || view.cancelled.contains(mark->seq)) continue;
    if (view.covered.contains(mark->seq)) continue;  // by a later one
    view.covered = view.covered.united(SeqSet(mark->covers));
    view.in_force.push_back(*mark);
  }
  std::reverse(view.in_force.begin(), view.in_force.end());
  view.covered =
      view.covered.common(view.path).without(seq_set_of(view.system)).without(view.cancelled);
  return view;
}

const SummaryMark* find_summary(const IndexHead& head, const ThreadView& view, Seq seq) {
  if (!view.path.contains(seq) || view.cancelled.contains(seq)) return nullptr;
  return summary_at(head, seq);
}

}  // namespace skein
