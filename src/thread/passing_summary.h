// A summary that is made for one context and stored nowhere.
#pragma once

#include <optional>
#include <vector>

#include "skein/context.h"
#include "thread/event_cost.h"
#include "thread/seq_set.h"

namespace skein {

struct PassingSummary {
  SeqSet covers;
  Event event;  // a system message without a position
  EventCost cost;
};

// How many tokens to keep free for one, of so many that are left; 0: too few for any.
std::uint64_t passing_summary_budget(std::uint64_t left);

// Of the newest kMaxSummarisedInPassing events in the set. Nothing, if there is nothing to say.
Result<std::optional<PassingSummary>> summarise_in_passing(Store& store, ThreadId thread,
                                                           Summarizer& summarizer,
                                                           const SeqSet& seqs,
                                                           std::uint64_t budget);

// The events in the set as a summarizer gets them, in order. Events that say nothing are left out.
Result<std::vector<SummaryPart>> read_summary_parts(Store& store, ThreadId thread,
                                                    const SeqSet& seqs);

// Asks for a summary and refuses one that is longer than asked for.
Result<std::string> checked_summary(Summarizer& summarizer, const std::vector<SummaryPart>& parts,
                                    std::uint64_t max_tokens);

}  // namespace skein
