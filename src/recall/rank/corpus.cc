#include "recall/rank/corpus.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace skein {
namespace {

// Up to here counters by the number of a term are few, whatever the messages say.
constexpr std::size_t kDenseTerms = 1'000'000;

}  // namespace

double Corpus::average_words() const {
  if (messages_ == 0) return 1;
  return std::max(1.0, static_cast<double>(all_words_) / static_cast<double>(messages_));
}

std::optional<Place> Corpus::find(std::int64_t id) const {
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (found == ids_.end() || *found != id) return std::nullopt;
  return static_cast<Place>(found - ids_.begin());
}

Place Corpus::last_of(ThreadId thread) const {
  const auto found = thread_numbers_.find(thread.bits());
  return found == thread_numbers_.end() ? kNowhere : threads_[found->second].last;
}

std::span<const std::uint32_t> Corpus::built(TermId term) const {
  const auto found = std::lower_bound(built_terms_.begin(), built_terms_.end(), term);
  if (found == built_terms_.end() || *found != term) return {};
  const auto i = static_cast<std::size_t>(found - built_terms_.begin());
  return std::span(postings_).subspan(starts_[i], starts_[i + 1] - starts_[i]);
}

std::size_t Corpus::frequency(TermId term) const {
  const auto found = recent_.find(term);
  return built(term).size() + (found == recent_.end() ? 0 : found->second.size());
}

void Corpus::reserve(std::size_t messages) {
  ids_.reserve(messages);
  time_.reserve(messages);
  seq_.reserve(messages);
  thread_.reserve(messages);
  speaker_.reserve(messages);
  before_.reserve(messages);
  after_.reserve(messages);
  words_.reserve(messages);
  flags_.reserve(messages);
}

bool Corpus::add(const CorpusMessage& message) {
  if (size() >= kMaxCorpusMessages) return false;
  TermId highest = 0;
  std::size_t terms = 0;
  const bool readable = unpack_terms(message.terms, [&](TermCount term) {
    highest = std::max(highest, term.term);
    ++terms;
  });
  if (!readable) return false;
  const auto place = static_cast<Place>(size());
  const auto [found, is_new] = thread_numbers_.try_emplace(
      message.thread.bits(), static_cast<std::uint32_t>(threads_.size()));
  if (is_new) threads_.push_back({message.thread.bits(), kNowhere});

  ids_.push_back(message.id);
  time_.push_back(message.time.us);
  seq_.push_back(static_cast<std::uint32_t>(message.seq));
  thread_.push_back(found->second);
  speaker_.push_back(message.speaker);
  before_.push_back(kNowhere);
  after_.push_back(kNowhere);
  words_.push_back(static_cast<std::uint16_t>(std::min(message.words, 0xFFFFU)));
  flags_.push_back(static_cast<std::uint8_t>(
      kAlive | (message.asks ? kAsks : 0) | (message.role == Role::kAssistant ? kAssistant : 0) |
      static_cast<unsigned>(message.language) << kLanguageShift));
  ++by_language_[static_cast<std::size_t>(message.language)];
  ++messages_;
  all_words_ += words_.back();

  if (!is_built_) {
    highest_waiting_ = std::max(highest_waiting_, highest);
    terms_waiting_ += terms;
    const Place last = threads_[found->second].last;
    in_order_ = in_order_ && (last == kNowhere || seq_[last] <= seq_[place]);
    if (in_order_) link(place);
    detail::put_number(waiting_, message.terms.size());
    waiting_ += message.terms;
    return true;
  }
  link(place);
  unpack_terms(message.terms, [&](TermCount term) {
    recent_[term.term].push_back(pack(place, term.count));
    ++recent_size_;
  });
  if (recent_size_ > postings_.size() / 4 + 100'000) fold_recent();
  return true;
}

void Corpus::link_all() {
  std::fill(before_.begin(), before_.end(), kNowhere);
  std::fill(after_.begin(), after_.end(), kNowhere);
  std::vector<Place> places(size());
  std::iota(places.begin(), places.end(), Place{0});
  std::sort(places.begin(), places.end(), [this](Place a, Place b) {
    return std::tie(thread_[a], seq_[a], a) < std::tie(thread_[b], seq_[b], b);
  });
  Place last = kNowhere;
  for (const Place place : places) {
    if (last != kNowhere && thread_[last] == thread_[place]) {
      before_[place] = last;
      after_[last] = place;
    }
    threads_[thread_[place]].last = last = place;
  }
}

void Corpus::link(Place place) {
  Thread& thread = threads_[thread_[place]];
  Place before = thread.last;
  Place after = kNowhere;
  while (before != kNowhere && seq_[before] > seq_[place]) {
    after = before;
    before = before_[before];
  }
  before_[place] = before;
  after_[place] = after;
  if (before != kNowhere) after_[before] = place;
  (after == kNowhere ? thread.last : before_[after]) = place;
}

void Corpus::remove(Place place) {
  if (!alive(place)) return;
  flags_[place] = static_cast<std::uint8_t>(flags_[place] & ~kAlive);
  --messages_;
  all_words_ -= words_[place];
  --by_language_[flags_[place] >> kLanguageShift];
  if (before_[place] != kNowhere) after_[before_[place]] = after_[place];
  (after_[place] == kNowhere ? threads_[thread_[place]].last : before_[after_[place]]) =
      before_[place];
  before_[place] = after_[place] = kNowhere;
  first.clear(place);
  second.clear(place);
}

void Corpus::build() {
  is_built_ = true;
  if (!in_order_) link_all();
  const auto each_message = [this](auto each) {
    std::string_view rest = waiting_;
    for (Place place = 0; !rest.empty(); ++place) {
      std::uint64_t bytes = 0;
      detail::take_number(rest, bytes);
      unpack_terms(rest.substr(0, bytes), [&](TermCount term) { each(place, term); });
      rest.remove_prefix(bytes);
    }
  };
  if (highest_waiting_ > kDenseTerms + 4 * terms_waiting_) return build_sparse(each_message);
  std::vector<std::uint32_t> counts(highest_waiting_ + std::size_t{1});
  each_message([&](Place, TermCount term) { ++counts[term.term]; });
  std::uint32_t total = 0;
  for (std::size_t term = 0; term < counts.size(); ++term) {
    if (counts[term] == 0) continue;
    built_terms_.push_back(static_cast<TermId>(term));
    starts_.push_back(total);
    total += counts[term];
    counts[term] = starts_.back();  // from here on: where its next posting goes
  }
  starts_.push_back(total);
  postings_.resize(total);
  each_message([&](Place place, TermCount term) {
    postings_[counts[term.term]++] = pack(place, term.count);
  });
  waiting_ = {};
}

template <class EachMessage>
void Corpus::build_sparse(const EachMessage& each_message) {
  std::vector<std::pair<TermId, std::uint32_t>> found;
  found.reserve(terms_waiting_);
  each_message(
      [&](Place place, TermCount term) { found.emplace_back(term.term, pack(place, term.count)); });
  std::sort(found.begin(), found.end());
  for (const auto& [term, posting] : found) {
    if (built_terms_.empty() || built_terms_.back() != term) {
      built_terms_.push_back(term);
      starts_.push_back(static_cast<std::uint32_t>(postings_.size()));
    }
    postings_.push_back(posting);
  }
  starts_.push_back(static_cast<std::uint32_t>(postings_.size()));
  waiting_ = {};
}

void Corpus::fold_recent() {
  std::vector<TermId> terms = built_terms_;
  for (const auto& [term, list] : recent_) terms.push_back(term);
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> postings;
  postings.reserve(postings_.size() + recent_size_);
  for (const TermId term : terms) {
    starts.push_back(static_cast<std::uint32_t>(postings.size()));
    each_with(term, [&](Place place, std::uint32_t count) {
      if (alive(place)) postings.push_back(pack(place, count));
    });
  }
  starts.push_back(static_cast<std::uint32_t>(postings.size()));
  built_terms_ = std::move(terms);
  starts_ = std::move(starts);
  postings_ = std::move(postings);
  recent_.clear();
  recent_size_ = 0;
}

}  // namespace skein
