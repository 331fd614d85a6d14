#include "recall/rank/ranking.h"

#include <cmath>
#include <unordered_map>

namespace skein {
namespace {

// Mean and spread of a part over the candidates.
class Standard {
 public:
  template <class Value>
  Standard(const std::vector<Place>& candidates, Value value) {
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (const Place place : candidates) {
      const std::optional<float> known = value(place);
      if (!known) continue;
      sum += *known;
      squares += static_cast<double>(*known) * *known;
      ++count;
    }
    if (count == 0) return;
    mean_ = static_cast<float>(sum / count);
    const double variance = squares / count - (sum / count) * (sum / count);
    if (variance > 1e-12) by_ = static_cast<float>(1 / std::sqrt(variance));
  }
  float operator()(float value) const { return (value - mean_) * by_; }

 private:
  float mean_ = 0;
  float by_ = 0;
};

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
    parts_.resize(candidates_.size());
    if (request_.by != RankBy::kVectorsAlone) {
      add_lexical();
      add_length();
      add_people();
      add_dates();
      add_recency();
    }
    if (with_vectors()) add_vectors();
    scores_.reserve(parts_.size());
    for (const RankParts& parts : parts_) scores_.push_back(parts.sum());
  }

  void add_lexical() {
    lexical_ = lexical_scores(corpus_, request_.question.terms, weights_.kernel);
    const Standard z(candidates_, [&](Place place) { return std::optional(lexical_[place]); });
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      parts_[i].lexical = weights_.lexical * z(lexical_[candidates_[i]]);
    }
  }

  void add_length() {
    std::vector<float> logarithms(0x10000, -1);
    const auto length = [&](Place place) {
      float& known = logarithms[corpus_.words(place)];
      if (known < 0) known = std::log(1 + static_cast<float>(corpus_.words(place)));
      return std::optional(known);
    };
    const Standard z(candidates_, length);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      parts_[i].length = weights_.length * z(*length(candidates_[i]));
    }
  }

  // Whoever the question is about is the one to have said it.
  void add_people() {
    const Question& question = request_.question;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const SpeakerId speaker = corpus_.speaker(candidates_[i]);
      bool is_meant = false;
      if (!question.speakers.empty()) {
        is_meant = std::binary_search(question.speakers.begin(), question.speakers.end(), speaker);
      } else if (question.asks_of_user || (speaker == 0 && !question.asks_of_assistant)) {
        is_meant = corpus_.role(candidates_[i]) == Role::kUser;
      }
      if (is_meant) parts_[i].speaker = weights_.speaker;
    }
  }

  void add_dates() {
    if (request_.question.dates.empty()) return;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const std::int64_t day = day_of(corpus_.time(candidates_[i]));
      float best = 0;
      for (const DateHint& hint : request_.question.dates) {
        const DateFit fits = fit(hint, day);
        float value = fits >= DateFit::kYear ? weights_.year : 0;
        if (fits >= DateFit::kMonth) value += weights_.month;
        if (fits >= DateFit::kDay) value += weights_.day;
        best = std::max(best, value);
      }
      parts_[i].date = best;
    }
  }

  void add_recency() {
    if (candidates_.empty()) return;
    std::int64_t oldest = corpus_.time(candidates_[0]).us;
    std::int64_t newest = oldest;
    for (const Place place : candidates_) {
      oldest = std::min(oldest, corpus_.time(place).us);
      newest = std::max(newest, corpus_.time(place).us);
    }
    const double span = std::max(1.0, static_cast<double>(newest) - static_cast<double>(oldest));
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const auto age = static_cast<double>(corpus_.time(candidates_[i]).us - oldest);
      parts_[i].recency = weights_.recency * static_cast<float>(age / span);
    }
  }

  void add_vectors() {
    const bool both = corpus_.second.count() > 0 && request_.by == RankBy::kAll;
    add_similarity(corpus_.first, both ? weights_.meaning : weights_.meaning_alone,
                   &RankParts::meaning);
    if (both) add_similarity(corpus_.second, weights_.surroundings, &RankParts::surroundings);
  }

  // What has no vector yet counts as the average.
  void add_similarity(const VectorRows& rows, float weight, float RankParts::* part) {
    std::vector<float> cosines(corpus_.size());
    rows.scan(request_.vector, cosines);
    const Standard z(candidates_, [&](Place place) {
      return rows.has(place) ? std::optional(cosines[place]) : std::nullopt;
    });
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (rows.has(candidates_[i])) parts_[i].*part = weight * z(cosines[candidates_[i]]);
    }
  }

  bool speaks_for(std::size_t i) const {
    if (with_vectors()) return true;
    return request_.by != RankBy::kVectorsAlone && lexical_[candidates_[i]] > 0;
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
      chosen.push_back({candidates_[i], scores_[i], parts_[i]});
    }
    return chosen;
  }

  const Corpus& corpus_;
  const RankRequest& request_;
  const RankWeights& weights_;
  std::vector<Place> candidates_;
  std::vector<RankParts> parts_;
  std::vector<float> scores_;
  std::vector<float> lexical_;
};

}  // namespace

RankOutcome rank(const Corpus& corpus, const RankRequest& request, const RankWeights& weights) {
  return Ranking(corpus, request, weights).run();
}

}  // namespace skein
