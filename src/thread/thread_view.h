// A thread as a context sees it: its current path, and which summaries are in force on it.
#pragma once

#include <vector>

#include "thread/index_format.h"
#include "thread/seq_set.h"

namespace skein {

struct ThreadView {
  SeqSet path;
  std::vector<Seq> system;            // system messages on the path, summaries aside
  std::vector<SummaryMark> in_force;  // in rising order; `covers` may reach beyond the path
  SeqSet covered;                     // of the path, by those; system messages never are
  SeqSet cancelled;                   // summaries that were undone, and what undid them
};

ThreadView view_of(const IndexHead& head);

// The summary with that seq, if it is on the path and was not undone.
const SummaryMark* find_summary(const IndexHead& head, const ThreadView& view, Seq seq);

}  // namespace skein
