#include "thread/window.h"

#include <algorithm>
#include <set>

#include "core/try.h"
#include "skein/context.h"
#include "thread/event_kind.h"
#include "thread/tool_pairs.h"

namespace skein {
namespace {

constexpr std::uint64_t kFirstPage = 64;  // events of the first read; each is twice the one before
constexpr std::uint64_t kLastPage = 1024;

}  // namespace

// Events from newer to older, with the other halves of those that are half of something.
struct Window::Candidates {
  struct Entry {
    Event event;
    EventCost cost;
    Seq half = 0;  // 0: none
  };
  std::vector<Entry> entries;
  std::map<Seq, std::size_t> place;  // in `entries`, by seq
  std::uint64_t tokens = 0;
  bool all = false;  // nothing is left unread

  void add(Event event, const EventCost& cost) {
    place[event.seq] = entries.size();
    entries.push_back({std::move(event), cost, 0});
  }
  void join(Seq a, Seq b) {
    entries[place.at(a)].half = b;
    entries[place.at(b)].half = a;
  }
};

Result<Event> Window::read_one(Seq seq) {
  ReadRange range;
  range.from = seq;
  range.limit = 1;
  Event found;
  SKEIN_TRY(index_.read(range, [&found](Event& event) {
    found = std::move(event);
    return false;
  }));
  if (found.seq == seq) return found;
  return fail(ErrorCode::kNotFound,
              "thread " + index_.manifest().id.str() + " was removed meanwhile");
}

void Window::put(Event event, const EventCost& cost, const std::string& why) {
  const Seq seq = event.seq;
  if (chosen_.try_emplace(seq, Chosen{std::move(event), cost, why}).second) tokens_ += cost.tokens;
}

Result<void> Window::take(Seq seq, const std::string& why) {
  SKEIN_ASSIGN(Event event, read_one(seq));
  const EventCost cost = cost_of(event);
  put(std::move(event), cost, why);
  return {};
}

Result<std::uint64_t> Window::take_if_fits(Seq seq, std::uint64_t budget, const std::string& why) {
  if (chosen_.contains(seq)) return 0;
  SKEIN_ASSIGN(Event event, read_one(seq));
  if (!is_for_model(kind_of(event))) return 0;
  SKEIN_ASSIGN(auto half, find_other_half(index_, event));
  const EventCost cost = cost_of(event);
  const EventCost half_cost = half ? cost_of(*half) : EventCost{};
  if (cost.tokens + half_cost.tokens > budget) return 0;
  put(std::move(event), cost, why);
  if (half) put(std::move(*half), half_cost, why);
  return cost.tokens + half_cost.tokens;
}

Result<Window::Candidates> Window::read_newest(const SeqSet& seqs, std::uint64_t budget) {
  Candidates candidates;
  std::uint64_t page = kFirstPage;
  for (auto part = seqs.ranges().rbegin(); part != seqs.ranges().rend(); ++part) {
    for (Seq next = part->last; next >= part->first && next > 0;) {
      ReadRange range;
      range.direction = Direction::kBackward;
      range.from = next;
      range.limit = std::min(page, next - part->first + 1);
      page = std::min(page * 2, kLastPage);
      std::uint64_t seen = 0;
      SKEIN_TRY(index_.read(range, [&](Event& event) {
        ++seen;
        if (!is_for_model(kind_of(event))) {
          not_for_models_.push_back(event.seq);
          return true;
        }
        const EventCost cost = cost_of(event);
        candidates.tokens += cost.tokens;
        candidates.add(std::move(event), cost);
        return candidates.tokens <= budget;
      }));
      if (candidates.tokens > budget) return candidates;
      if (seen < range.limit) break;
      next -= range.limit;
    }
  }
  candidates.all = true;
  return candidates;
}

// Pairs the candidates up, and looks further back for calls whose responses are among them. What
// lies between the candidates counts too: calls and responses pair up over the whole path.
Result<void> Window::find_halves(Candidates& candidates) {
  const auto is_half = [](const Candidates::Entry& entry) {
    const EventKind kind = kind_of(entry.event);
    return kind == EventKind::kToolCall || kind == EventKind::kToolResponse;
  };
  if (std::none_of(candidates.entries.begin(), candidates.entries.end(), is_half)) return {};
  const Seq oldest = candidates.entries.back().event.seq;
  ReadRange range;
  range.direction = Direction::kBackward;
  range.view = View::kPath;
  range.head = index_.last();
  ToolPairs pairs(Direction::kBackward);
  std::size_t open = 0;    // candidates whose calls were not met yet
  std::size_t beyond = 0;  // events older than the candidates
  return index_.read(range, [&](Event& event) {
    const Seq seq = event.seq;
    if (seq < oldest && (open == 0 || ++beyond > kToolPairReach)) return false;
    const bool candidate = candidates.place.contains(seq);
    if (candidate && kind_of(event) == EventKind::kToolResponse) ++open;
    const auto half = pairs.tell(event);
    if (!half) return true;
    const bool half_is_candidate = candidates.place.contains(*half);
    if (half_is_candidate) --open;
    if (!candidate && !half_is_candidate) return true;
    if (!candidate) {
      const EventCost cost = cost_of(event);
      candidates.add(std::move(event), cost);
    }
    if (half_is_candidate) candidates.join(*half, seq);
    return true;
  });
}

Result<bool> Window::take_newest(const SeqSet& seqs, std::uint64_t budget, const std::string& why) {
  SKEIN_ASSIGN(Candidates candidates, read_newest(seqs, budget));
  const std::size_t in_order = candidates.entries.size();
  SKEIN_TRY(find_halves(candidates));
  std::uint64_t left = budget;
  for (std::size_t i = 0; i < in_order; ++i) {
    Candidates::Entry& entry = candidates.entries[i];
    const Seq seq = entry.event.seq;
    if (chosen_.contains(seq)) continue;  // as the other half of a newer one
    Candidates::Entry* half =
        entry.half == 0 ? nullptr : &candidates.entries[candidates.place.at(entry.half)];
    const bool half_is_in = half == nullptr || chosen_.contains(entry.half);
    const std::uint64_t cost = entry.cost.tokens + (half_is_in ? 0 : half->cost.tokens);
    if (cost > left) return false;
    left -= cost;
    put(std::move(entry.event), entry.cost, why);
    newest_.push_back(seq);
    if (half_is_in) continue;
    newest_.push_back(entry.half);
    put(std::move(half->event), half->cost, why);
  }
  return candidates.all;
}

void Window::forget_newest() {
  for (const Seq seq : newest_) {
    const auto at = chosen_.find(seq);
    tokens_ -= at->second.cost.tokens;
    chosen_.erase(at);
  }
  newest_.clear();
  not_for_models_.clear();
}

SeqSet Window::seqs() const {
  std::vector<Seq> all;
  for (const auto& [seq, chosen] : chosen_) all.push_back(seq);
  return seq_set_of(all);
}

}  // namespace skein
