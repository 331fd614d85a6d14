#include "skein/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/try.h"
#include "skein/limits.h"
#include "thread/event_cost.h"
#include "thread/ledger.h"
#include "thread/passing_summary.h"
#include "thread/thread_index.h"
#include "thread/thread_view.h"
#include "thread/window.h"
#include "thread/word_finder.h"

namespace skein {
namespace {

constexpr std::size_t kMostMatches = 8;
constexpr std::size_t kMostKeyMessages = 200;

// Why something is in, as the ledger says it.
constexpr const char* kSystemMessage = "system message";
constexpr const char* kSummaryInForce = "summary";
constexpr const char* kNewestUser = "newest user message";
constexpr const char* kRecentMessage = "recent";

class ContextMaker {
 public:
  ContextMaker(Store& store, ThreadIndex& index, const ContextRequest& request)
      : store_(store),
        index_(index),
        request_(request),
        view_(view_of(index.head())),
        window_(index) {}

  Result<ContextWindow> make() {
    SKEIN_TRY(take_what_must_be_in());
    if (request_.strategy == ContextStrategy::kRecent) {
      SKEIN_TRY(window_.take_newest(candidates(), left(), kRecentMessage));
    } else {
      if (request_.strategy == ContextStrategy::kHybrid) SKEIN_TRY(take_key_messages());
      SKEIN_TRY(take_recent_and_summarise());
    }
    return finish();
  }

 private:
  std::uint64_t left() const { return request_.max_tokens - window_.tokens(); }

  // What may be taken besides what is in.
  SeqSet candidates() const {
    SeqSet seqs = view_.path.without(window_.seqs())
                      .without(view_.cancelled)
                      .without(seq_set_of(index_.head().unreadable));
    const bool verbatim = request_.strategy == ContextStrategy::kRecent;
    return verbatim ? seqs.without(superseded()) : seqs.without(view_.covered);
  }

  // Summaries that a later one covers.
  SeqSet superseded() const {
    std::vector<Seq> seqs;
    for (const SummaryMark& mark : index_.head().summaries) {
      if (view_.covered.contains(mark.seq)) seqs.push_back(mark.seq);
    }
    return seq_set_of(seqs);
  }

  Result<void> take_what_must_be_in() {
    for (const Seq seq : view_.system) SKEIN_TRY(window_.take(seq, kSystemMessage));
    const std::uint64_t system = window_.tokens();
    for (const SummaryMark& mark : view_.in_force) {
      SKEIN_TRY(window_.take(mark.seq, kSummaryInForce));
    }
    const std::uint64_t summaries = window_.tokens() - system;
    SKEIN_ASSIGN(newest_user_, index_.newest_user(view_.path));
    if (newest_user_ != 0) {
      SKEIN_TRY(window_.take(newest_user_, kNewestUser));
      if (!std::holds_alternative<Message>(window_.chosen().at(newest_user_).event.payload)) {
        return fail(ErrorCode::kDamaged,
                    fmt::format("the index of thread {} takes event {} for a user message",
                                index_.manifest().id.str(), newest_user_));
      }
    }
    if (window_.tokens() <= request_.max_tokens) return {};
    return fail(
        ErrorCode::kInvalid,
        fmt::format("the context needs at least {} tokens (system messages {}, summaries {}, the "
                    "newest user message {}), and max_tokens is {}",
                    window_.tokens(), system, summaries, window_.tokens() - system - summaries,
                    request_.max_tokens));
  }

  Result<void> take_key_messages() {
    const SeqSet unfit = view_.cancelled.united(superseded());
    std::uint64_t budget = left() * 2 / 5;
    std::size_t tried = 0;
    const auto take = [&](const std::vector<Seq>& seqs, const char* why) -> Result<void> {
      for (const Seq seq : seqs) {
        if (!view_.path.contains(seq) || unfit.contains(seq)) continue;
        if (++tried > kMostKeyMessages) return {};
        SKEIN_ASSIGN(const std::uint64_t cost, window_.take_if_fits(seq, budget, why));
        budget -= cost;
      }
      return {};
    };
    SKEIN_TRY(take(newest_first(index_.manifest().pins), "pinned"));
    SKEIN_TRY(take(newest_first(index_.head().decisions), "decision"));
    SKEIN_ASSIGN(const std::vector<Seq> matches, best_matches());
    return take(matches, "matches the newest user message");
  }

  static std::vector<Seq> newest_first(std::vector<Seq> seqs) {
    std::sort(seqs.begin(), seqs.end(), std::greater<>());
    return seqs;
  }

  Result<std::vector<Seq>> best_matches() {
    if (newest_user_ == 0) return std::vector<Seq>{};
    const std::string& question =
        std::get<Message>(window_.chosen().at(newest_user_).event.payload).text;
    const ThreadId thread = index_.manifest().id;
    if (request_.finder != nullptr) return request_.finder->find(thread, question, kMostMatches);
    return WordFinder(store_, newest_user_).find(thread, question, kMostMatches);
  }

  Result<void> take_recent_and_summarise() {
    const SeqSet rest = candidates();
    SKEIN_ASSIGN(const bool all, window_.take_newest(rest, left(), kRecentMessage));
    if (all) return {};
    window_.forget_newest();
    const std::uint64_t reserved = passing_summary_budget(left());
    SKEIN_TRY(window_.take_newest(rest, left() - reserved, kRecentMessage));
    if (reserved == 0) return {};
    Summarizer& summarizer =
        request_.summarizer != nullptr ? *request_.summarizer : extractive_summarizer();
    SKEIN_ASSIGN(passing_, summarise_in_passing(store_, index_.manifest().id, summarizer,
                                                rest.without(window_.seqs()), left()));
    return {};
  }

  Result<ContextWindow> finish() {
    ContextWindow context;
    context.strategy = request_.strategy;
    context.tokens = window_.tokens();
    SKEIN_ASSIGN(context.ledger, ledger().entries([this](const SeqRange& range, Disposition what) {
      return what == Disposition::kIn ? cost_of_chosen(range) : index_.cost(range);
    }));
    if (passing_) {
      context.tokens += passing_->cost.tokens;
      context.ledger.push_back({std::nullopt, Disposition::kIn, "summary made for this context",
                                passing_->cost.tokens, passing_->cost.estimated});
    }
    context.messages = messages();
    return context;
  }

  Result<EventCost> cost_of_chosen(const SeqRange& range) const {
    EventCost sum;
    const auto& chosen = window_.chosen();
    for (auto at = chosen.lower_bound(range.first); at != chosen.end() && at->first <= range.last;
         ++at) {
      sum += at->second.cost;
    }
    return sum;
  }

  Ledger ledger() const {
    Ledger ledger(index_.last());
    ledger.mark(SeqSet({{1, index_.last()}}), Disposition::kLeftOut, "not on the current path");
    ledger.mark(view_.path, Disposition::kLeftOut, "over the budget");
    for (const SummaryMark& mark : view_.in_force) {
      ledger.mark(SeqSet(mark.covers).common(view_.covered), Disposition::kSummarised,
                  fmt::format("summary {}", mark.seq));
    }
    if (passing_) {
      ledger.mark(passing_->covers, Disposition::kSummarised, "summary made for this context");
    }
    ledger.mark(seq_set_of(window_.not_for_models()), Disposition::kLeftOut, "not shown to models");
    ledger.mark(seq_set_of(index_.head().unreadable).common(view_.path), Disposition::kLeftOut,
                "cannot be read");
    for (const auto& [seq, chosen] : window_.chosen()) {
      ledger.mark(SeqSet({{seq, seq}}), Disposition::kIn, chosen.why);
    }
    ledger.drop(view_.cancelled);
    return ledger;
  }

  // In the order of the path; a summary comes before the first event that it covers.
  std::vector<Event> messages() const {
    struct Placed {
      Seq place;
      bool summary;
      const Event* event;
    };
    std::vector<Placed> placed;
    if (passing_)
      placed.push_back({passing_->covers.ranges().front().first, true, &passing_->event});
    for (const SummaryMark& mark : view_.in_force) {
      placed.push_back({mark.covers.front().first, true, &window_.chosen().at(mark.seq).event});
    }
    for (const auto& [seq, chosen] : window_.chosen()) {
      if (chosen.why != kSummaryInForce) placed.push_back({seq, false, &chosen.event});
    }
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return std::tuple(a.place, !a.summary, a.event->seq) <
             std::tuple(b.place, !b.summary, b.event->seq);
    });
    std::vector<Event> messages;
    for (const Placed& entry : placed) messages.push_back(*entry.event);
    return messages;
  }

  Store& store_;
  ThreadIndex& index_;
  const ContextRequest& request_;
  const ThreadView view_;
  Window window_;
  Seq newest_user_ = 0;
  std::optional<PassingSummary> passing_;
};

Result<ContextWindow> make_context_once(Store& store, ThreadId thread,
                                        const ContextRequest& request, ThreadIndex::Stored stored) {
  SKEIN_ASSIGN(ThreadIndex index, ThreadIndex::load(store, thread, stored));
  return ContextMaker(store, index, request).make();
}

}  // namespace

Result<ContextWindow> make_context(Store& store, ThreadId thread, const ContextRequest& request) {
  if (request.max_tokens < 1 || request.max_tokens > limits::kMaxContextTokens) {
    return fail(ErrorCode::kInvalid, fmt::format("max_tokens must be 1 to {}, got {}",
                                                 limits::kMaxContextTokens, request.max_tokens));
  }
  auto context = make_context_once(store, thread, request, ThreadIndex::Stored::kUse);
  if (context || context.error().code != ErrorCode::kDamaged) return context;
  return make_context_once(store, thread, request, ThreadIndex::Stored::kIgnore);
}

Result<void> forget_context(Store& store, ThreadId thread) { return forget_index(store, thread); }

}  // namespace skein
