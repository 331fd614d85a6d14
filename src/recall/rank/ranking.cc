#include "recall/rank/ranking.h"

#include <cmath>
#include <limits>
#include <unordered_map>

namespace skein {
namespace {

// Mean and spread of a part over the candidates.
class Standard {
 public:
  Standard() = default;
  template <class Value>
  Standard(const std::vector<Place>& candidates, Value value) {
    if (candidates.empty()) return;
    double sum = 0;
    double squares = 0;
    for (const Place place : candidates) {
      const double known = value(place);
      sum += known;
      squares += known * known;
    }
    const auto count = static_cast<double>(candidates.size());
    mean_ = static_cast<float>(sum / count);
    const double variance = squares / count - (sum / count) * (sum / count);
    if (variance > 1e-12) by_ = static_cast<float>(1 / std::sqrt(variance));
  }
  float operator()(float value) const { return (value - mean_) * by_; }
  // In the same unit, but counted from zero. Where all values are equal, one unit.
  float from_zero(float value) const {
    if (value <= 0) return 0;
    return by_ > 0 ? value * by_ : 1;
  }

 private:
  float mean_ = 0;
  float by_ = 0;
};

// One part of the score, for each place.
struct Part {
  std::vector<float> values;
  Standard z;
};

// ln(1 + words), for any number that a corpus has.
float log_of(std::uint32_t words) {
  static const std::vector<float> logarithms = [] {
    std::vector<float> made(0x10000);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = std::log(1 + static_cast<float>(i));
    return made;
  }();
  return logarithms[words];
}

class Ranking {
 public:
  Ranking(const Corpus& corpus, const RankRequest& request, const RankWeights& weights)
      : corpus_(corpus), request_(request), weights_(weights) {
    for (Place place = 0; place < corpus.size(); ++place) {
      if (corpus.alive(place) && (!request.filter || request.filter(place))) {
        candidates_.push_back(place);
      }
    }
  }

  RankOutcome run() {
    score_all();
    RankOutcome outcome;
    outcome.best = choose();
    outcome.used_words = request_.by != RankBy::kVectorsAlone;
    outcome.used_vectors = with_vectors();
    outcome.candidates = candidates_.size();
    for (const Place place : candidates_) outcome.without_vector += !corpus_.first.has(place);
    return outcome;
  }

 private:
  bool with_vectors() const {
    return request_.by != RankBy::kWithoutVectors && !request_.vector.empty() &&
           corpus_.first.count() > 0;
  }

  void score_all() {
    if (request_.by != RankBy::kVectorsAlone) {
      lexical_.values = lexical_scores(corpus_, request_.question.terms, weights_.kernel);
      lexical_.z = Standard(candidates_, [&](Place place) { return lexical_.values[place]; });
      length_ = Standard(candidates_, [&](Place place) { return log_of(corpus_.words(place)); });
      find_span();
    }
    if (with_vectors()) {
      compare_with(corpus_.first, first_);
      // Where vectors are asked for alone, it is those of the messages themselves.
      both_ = corpus_.second.count() > 0 && request_.by == RankBy::kAll;
      if (both_) compare_with(corpus_.second, second_);
    }
    scores_.reserve(candidates_.size());
    for (const Place place : candidates_) scores_.push_back(parts_of(place).sum());
  }

  // What has no vector yet counts as the average.
  void compare_with(const VectorRows& rows, Part& part) {
    part.values.resize(corpus_.size());
    rows.scan(request_.vector, part.values);
    std::vector<Place> with;
    with.reserve(candidates_.size());
    for (const Place place : candidates_) {
      if (rows.has(place)) with.push_back(place);
    }
    part.z = Standard(with, [&](Place place) { return part.values[place]; });
  }

  void find_span() {
    for (const Place place : candidates_) {
      oldest_ = std::min(oldest_, corpus_.time(place).us);
      newest_ = std::max(newest_, corpus_.time(place).us);
    }
  }

  RankParts parts_of(Place place) const {
    RankParts parts;
    if (request_.by != RankBy::kVectorsAlone) {
      parts.lexical = weights_.lexical * lexical_.z(lexical_.values[place]);
      parts.length = weights_.length * length_(log_of(corpus_.words(place)));
      parts.recency = recency_part(place);
    }
    if (!first_.values.empty() && corpus_.first.has(place)) {
      parts.meaning =
          (both_ ? weights_.meaning : weights_.meaning_alone) * first_.z(first_.values[place]);
    }
    if (both_ && corpus_.second.has(place)) {
      parts.surroundings = weights_.surroundings * second_.z(second_.values[place]);
    }
    if (request_.by != RankBy::kVectorsAlone) {
      const float known = evidence(place, parts);
      parts.speaker = std::min(weights_.speaker, speaker_share(place) * known);
      parts.date = std::min(date_part(place), weights_.date_share * known);
    }
    return parts;
  }

  // What speaks for the message by itself, without any bonus; never negative.
  float evidence(Place place, const RankParts& parts) const {
    return weights_.lexical * lexical_.z.from_zero(lexical_.values[place]) +
           std::max(0.0F, parts.meaning) + std::max(0.0F, parts.surroundings);
  }

  // How much of its evidence a message gets on top for its speaker.
  float speaker_share(Place place) const {
    const Question& question = request_.question;
    const SpeakerId speaker = corpus_.speaker(place);
    if (!question.speakers.empty()) {
      const bool named =
          std::binary_search(question.speakers.begin(), question.speakers.end(), speaker);
      return named ? weights_.named_share : 0;
    }
    if (corpus_.role(place) != Role::kUser) return 0;
    if (question.asks_of_user) return weights_.named_share;
    return speaker == 0 && !question.asks_of_assistant ? weights_.presumed_share : 0;
  }

  float date_part(Place place) const {
    if (request_.question.dates.empty()) return 0;
    const std::int64_t day = day_of(corpus_.time(place));
    float best = 0;
    for (const DateHint& hint : request_.question.dates) {
      const DateFit fits = fit(hint, day);
      float value = fits >= DateFit::kYear ? weights_.year : 0;
      if (fits >= DateFit::kMonth) value += weights_.month;
      if (fits >= DateFit::kDay) value += weights_.day;
      best = std::max(best, value);
    }
    return best;
  }

  float recency_part(Place place) const {
    if (newest_ <= oldest_) return 0;
    const auto age = static_cast<double>(corpus_.time(place).us - oldest_);
    const double part = age / static_cast<double>(newest_ - oldest_);
    return weights_.recency * static_cast<float>(part);
  }

  bool speaks_for(std::size_t i) const {
    if (with_vectors()) return true;
    return request_.by != RankBy::kVectorsAlone && lexical_.values[candidates_[i]] > 0;
  }

  bool is_better(std::uint32_t a, std::uint32_t b) const {
    if (scores_[a] != scores_[b]) return scores_[a] > scores_[b];
    const Timestamp time_a = corpus_.time(candidates_[a]);
    const Timestamp time_b = corpus_.time(candidates_[b]);
    return time_a != time_b ? time_a > time_b : candidates_[a] > candidates_[b];
  }

  // Sorts as many as it takes to have enough of different threads.
  std::vector<Ranked> choose() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (speaks_for(i)) order.push_back(i);
    }
    const auto better = [this](std::uint32_t a, std::uint32_t b) { return is_better(a, b); };
    for (std::size_t sorted = std::max<std::size_t>(256, 4 * request_.limit);; sorted *= 8) {
      sorted = std::min(sorted, order.size());
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(sorted);
      std::nth_element(order.begin(), sorted < order.size() ? end : order.begin(), order.end(),
                       better);
      std::sort(order.begin(), end, better);
      std::vector<Ranked> chosen = first_of_threads(std::span(order).first(sorted));
      if (chosen.size() >= request_.limit || sorted == order.size()) return chosen;
    }
  }

  std::vector<Ranked> first_of_threads(std::span<const std::uint32_t> order) const {
    std::vector<Ranked> chosen;
    std::unordered_map<std::uint32_t, std::size_t> taken;
    for (const std::uint32_t i : order) {
      if (chosen.size() >= request_.limit) break;
      if (taken[corpus_.thread_number(candidates_[i])]++ >= request_.per_thread) continue;
      chosen.push_back({candidates_[i], scores_[i], parts_of(candidates_[i])});
    }
    return chosen;
  }

  const Corpus& corpus_;
  const RankRequest& request_;
  const RankWeights& weights_;
  std::vector<Place> candidates_;
  std::vector<float> scores_;  // of the candidates
  Part lexical_;
  Part first_;
  Part second_;
  bool both_ = false;
  Standard length_;
  std::int64_t oldest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t newest_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

RankOutcome rank(const Corpus& corpus, const RankRequest& request, const RankWeights& weights) {
  return Ranking(corpus, request, weights).run();
}

}  // namespace skein
