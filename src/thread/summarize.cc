#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/try.h"
#include "skein/context.h"
#include "skein/limits.h"
#include "thread/passing_summary.h"
#include "thread/status.h"
#include "thread/thread_index.h"
#include "thread/thread_view.h"
#include "thread/tool_pairs.h"

namespace skein {
namespace {

constexpr std::size_t kMostRanges = 1000;  // that a summary names
constexpr int kMostTries = 100;            // against others that append at the same time

// Walks back from the newest event to where the summary may end.
class CutFinder {
 public:
  explicit CutFinder(const SummarizeRequest& request) : request_(request) {}

  // True: go on with the next older event.
  bool tell(const Event& event) {
    const EventKind kind = kind_of(event);
    const bool is_message = kind == EventKind::kUser || kind == EventKind::kAssistant ||
                            kind == EventKind::kToolResponse;
    if (is_message) ++messages_;
    if (!cut_ && messages_ > request_.keep_recent) {
      cut_ = event.seq;
      want_open_halves();
    }
    const auto half = pairs_.tell(event);
    if (half && wanted_.erase(*half) > 0) {
      // A call whose response stays must stay, and so must all that came between.
      cut_ = event.seq - 1;
      since_cut_ = 0;
      want_open_halves();
    }
    if (cut_) ++since_cut_;
    const bool settled = cut_ && (wanted_.empty() || since_cut_ > kToolPairReach);
    return !settled || messages_ <= request_.threshold;
  }

  // The newest event that may be covered; 0: nothing may.
  Seq cut() const { return messages_ > request_.threshold ? cut_.value_or(0) : 0; }

 private:
  void want_open_halves() {
    const std::vector<Seq> open = pairs_.open();
    wanted_.insert(open.begin(), open.end());
  }

  const SummarizeRequest& request_;
  std::uint64_t messages_ = 0;
  std::optional<Seq> cut_;
  std::size_t since_cut_ = 0;
  ToolPairs pairs_{Direction::kBackward};
  std::set<Seq> wanted_;  // responses that stay and whose calls were not met yet
};

// What a summary is to be made of.
struct Plan {
  SeqSet covers;
  SeqSet earlier;  // summaries among them
};

Result<Seq> find_cut(Store& store, ThreadId thread, const SeqSet& seqs,
                     const SummarizeRequest& request) {
  CutFinder finder(request);
  bool go_on = true;
  for (auto part = seqs.ranges().rbegin(); part != seqs.ranges().rend() && go_on; ++part) {
    ReadRange range;
    range.direction = Direction::kBackward;
    range.from = part->last;
    range.limit = part->last - part->first + 1;
    SKEIN_TRY(store.read(thread, range, [&](Event& event) {
      go_on = finder.tell(event);
      return go_on;
    }));
  }
  return finder.cut();
}

Result<std::optional<Plan>> make_plan(Store& store, const ThreadIndex& index,
                                      const SummarizeRequest& request) {
  const ThreadView view = view_of(index.head());
  std::vector<Seq> summaries;
  std::vector<SeqRange> covers;
  for (const SummaryMark& mark : view.in_force) {
    summaries.push_back(mark.seq);
    covers.insert(covers.end(), mark.covers.begin(), mark.covers.end());
  }
  const SeqSet reached(std::move(covers));
  Plan plan;
  plan.earlier = seq_set_of(summaries);
  const SeqSet eligible = view.path.without(seq_set_of(view.system))
                              .without(view.cancelled)
                              .without(plan.earlier)
                              .without(seq_set_of(index.head().unreadable));
  const SeqSet fresh = eligible.without(view.covered);
  SKEIN_ASSIGN(const Seq cut, find_cut(store, index.manifest().id, fresh, request));
  const SeqSet before_cut = SeqSet({{1, cut}});
  if (cut == 0 || fresh.common(before_cut).empty()) return std::nullopt;
  plan.covers = eligible.common(before_cut.united(reached)).united(plan.earlier);
  return plan;
}

// As many ranges as metadata has room for; what they gain by that lies off the path.
std::vector<SeqRange> few_ranges(std::vector<SeqRange> ranges) {
  while (ranges.size() > kMostRanges) {
    ranges[1].first = ranges[0].first;
    ranges.erase(ranges.begin());
  }
  return ranges;
}

Event summary_event(const Summary& summary) {
  Event event;
  event.payload = Message{Role::kSystem, summary.text};
  event.memory_type = MemoryType::kContextSummary;
  event.metadata = covers_metadata(summary.covers, summary.model);
  return event;
}

// Whether what was planned can still be covered: it is all on the path, and the earlier summaries
// are still in force.
bool still_holds(const Plan& plan, const ThreadView& view) {
  std::vector<Seq> in_force;
  for (const SummaryMark& mark : view.in_force) in_force.push_back(mark.seq);
  return plan.covers.without(view.path).empty() &&
         plan.earlier.without(seq_set_of(in_force)).empty() && !plan.covers.empty();
}

// Appends behind the last event that the index knows. Without a fence, only while messages go into
// the thread.
Result<Seq> append_at_end(Store& store, const ThreadIndex& index, Event event,
                          std::optional<LeaseToken> fence) {
  Append append{index.manifest().id, std::move(event), fence, index.last() + 1};
  if (!fence) {
    SKEIN_TRY(check_takes_messages(index.manifest()));
    append.expect_version = index.manifest().version;
  }
  SKEIN_ASSIGN(const Appended appended, std::move(store.append({&append, 1}).front()));
  return appended.seq;
}

// A conflict may be with the thread's status, too; looking again tells.
bool was_overtaken(const Result<Seq>& appended, int tries) {
  return !appended && appended.error().code == ErrorCode::kConflict && tries < kMostTries;
}

// Earlier summaries first, then what they do not cover.
Result<std::vector<SummaryPart>> read_parts(Store& store, const ThreadIndex& index,
                                            const Plan& plan) {
  const ThreadId thread = index.manifest().id;
  const SeqSet covered = view_of(index.head()).covered;
  SKEIN_ASSIGN(auto parts, read_summary_parts(store, thread, plan.earlier));
  SKEIN_ASSIGN(auto fresh, read_summary_parts(store, thread,
                                              plan.covers.without(plan.earlier).without(covered)));
  if (fresh.empty()) return fresh;
  std::move(fresh.begin(), fresh.end(), std::back_inserter(parts));
  return parts;
}

Result<Seq> append_summary(Store& store, ThreadId thread, const Plan& plan, const Summary& summary,
                           std::optional<LeaseToken> fence) {
  for (int tries = 1;; ++tries) {
    SKEIN_ASSIGN(const ThreadIndex index, ThreadIndex::load(store, thread));
    if (!still_holds(plan, view_of(index.head()))) {
      return fail(ErrorCode::kConflict,
                  "thread " + thread.str() + " went on from before what was summarised meanwhile");
    }
    auto appended = append_at_end(store, index, summary_event(summary), fence);
    if (!was_overtaken(appended, tries)) return appended;
  }
}

}  // namespace

Result<std::optional<Summary>> summarize_thread(Store& store, ThreadId thread,
                                                const SummarizeRequest& request) {
  if (request.max_tokens < 1 || request.max_tokens > limits::kMaxSummaryTokens) {
    return fail(ErrorCode::kInvalid, fmt::format("max_tokens of a summary must be 1 to {}, got {}",
                                                 limits::kMaxSummaryTokens, request.max_tokens));
  }
  SKEIN_ASSIGN(const ThreadIndex index, ThreadIndex::load(store, thread));
  if (!request.fence) SKEIN_TRY(check_takes_messages(index.manifest()));
  SKEIN_ASSIGN(const auto plan, make_plan(store, index, request));
  if (!plan) return std::nullopt;
  SKEIN_ASSIGN(const auto parts, read_parts(store, index, *plan));
  if (parts.empty()) return std::nullopt;
  Summarizer& summarizer =
      request.summarizer != nullptr ? *request.summarizer : extractive_summarizer();
  Summary summary;
  SKEIN_ASSIGN(summary.text, checked_summary(summarizer, parts, request.max_tokens));
  summary.model = summarizer.model();
  if (summary.text.empty()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("nothing came of a summary: these messages have too little to say, or "
                            "{} tokens are too few for it",
                            request.max_tokens));
  }
  summary.covers = few_ranges(plan->covers.ranges());
  SKEIN_ASSIGN(summary.seq, append_summary(store, thread, *plan, summary, request.fence));
  return summary;
}

Result<Seq> undo_summary(Store& store, ThreadId thread, const UndoRequest& request) {
  for (int tries = 1;; ++tries) {
    SKEIN_ASSIGN(const ThreadIndex index, ThreadIndex::load(store, thread));
    const ThreadView view = view_of(index.head());
    const Seq newest = view.in_force.empty() ? 0 : view.in_force.back().seq;
    const Seq seq = request.seq.value_or(newest);
    if (seq == 0) {
      return fail(ErrorCode::kNotFound, "thread " + thread.str() + " has no summary to undo");
    }
    if (find_summary(index.head(), view, seq) == nullptr) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("event {} of thread {} is no summary in force", seq, thread.str()));
    }
    Event event;
    event.payload = Message{Role::kSystem, fmt::format("Summary {} was undone.", seq)};
    event.memory_type = MemoryType::kContextSummary;
    event.metadata = undoes_metadata(seq);
    const auto appended = append_at_end(store, index, std::move(event), request.fence);
    if (was_overtaken(appended, tries)) continue;
    SKEIN_TRY(appended);
    return seq;
  }
}

}  // namespace skein
