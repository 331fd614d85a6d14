#include "recall/rank/kernel.h"

#include <cmath>

namespace skein {
namespace {

class Kernel {
 public:
  Kernel(const Corpus& corpus, const KernelWeights& weights)
      : corpus_(corpus),
        weights_(weights),
        average_(static_cast<float>(corpus.average_words())),
        scores_(corpus.size(), 0),
        missing_(corpus.size(), 1),
        thread_best_(corpus.threads(), 0),
        thread_scores_(corpus.threads(), 0) {}

  void add(const QueryTerm& term) {
    std::size_t frequency = 0;
    if (term.alternatives.size() == 1) {
      const Alternative& only = term.alternatives.front();
      corpus_.each_with(only.term, [&](Place place, std::uint32_t count) {
        if (!corpus_.alive(place)) return;
        ++frequency;
        spread(place, only.weight * occurrence(place, count));
      });
    } else {
      for (const auto& [place, x] : merged(term)) spread(place, x);
      frequency = merged_.size();
    }
    settle(inverse_frequency(frequency));
  }

  std::vector<float> finish() {
    for (Place place = 0; place < scores_.size(); ++place) {
      scores_[place] += leaning(place) * thread_scores_[corpus_.thread_number(place)];
    }
    return std::move(scores_);
  }

 private:
  struct Occurrence {
    Place place;
    float x;
  };

  float inverse_frequency(std::size_t frequency) const {
    const auto all = static_cast<float>(corpus_.messages());
    const auto with = static_cast<float>(std::min(frequency, corpus_.messages()));
    return std::log(1 + (all - with + 0.5F) / (with + 0.5F));
  }

  float occurrence(Place place, std::uint32_t count) const {
    const auto tf = static_cast<float>(count);
    const float length = static_cast<float>(corpus_.words(place)) / average_;
    return tf / (tf + weights_.saturation * (1 - weights_.length + weights_.length * length));
  }

  // The best of the alternatives in each message.
  const std::vector<Occurrence>& merged(const QueryTerm& term) {
    merged_.clear();
    for (const Alternative& alternative : term.alternatives) {
      corpus_.each_with(alternative.term, [&](Place place, std::uint32_t count) {
        if (!corpus_.alive(place)) return;
        merged_.push_back({place, alternative.weight * occurrence(place, count)});
      });
    }
    std::sort(merged_.begin(), merged_.end(), [](const Occurrence& a, const Occurrence& b) {
      return a.place != b.place ? a.place < b.place : a.x > b.x;
    });
    merged_.erase(
        std::unique(merged_.begin(), merged_.end(),
                    [](const Occurrence& a, const Occurrence& b) { return a.place == b.place; }),
        merged_.end());
    return merged_;
  }

  float leaning(Place place) const {
    const auto words = static_cast<float>(corpus_.words(place));
    return words <= weights_.leaning_words ? 1 : weights_.leaning_words / words;
  }

  void lower(Place place, float by) {
    if (missing_[place] == 1) touched_.push_back(place);
    missing_[place] *= 1 - by;
  }

  void spread(Place place, float x) {
    constexpr float kNothing = 1e-5F;
    if (x < kNothing) return;
    lower(place, x);
    Place other = corpus_.after(place);
    for (std::size_t d = 0; d < weights_.previous.size() && other != kNowhere; ++d) {
      const float weight = d == 0 && corpus_.asks(place) ? weights_.asked : weights_.previous[d];
      const float by = leaning(other) * weight * x;
      if (by > kNothing) lower(other, by);
      other = corpus_.after(other);
    }
    other = corpus_.before(place);
    for (std::size_t d = 0; d < weights_.next.size() && other != kNowhere; ++d) {
      const float by = leaning(other) * weights_.next[d] * x;
      if (by > kNothing) lower(other, by);
      other = corpus_.before(other);
    }
    float& best = thread_best_[corpus_.thread_number(place)];
    if (best == 0) touched_threads_.push_back(corpus_.thread_number(place));
    best = std::max(best, x);
  }

  // What the whole thread adds is the same for all its messages that nothing else touched: it is
  // summed up for the thread, and what is added here is the difference.
  void settle(float idf) {
    for (const Place place : touched_) {
      const float thread =
          weights_.thread * leaning(place) * thread_best_[corpus_.thread_number(place)];
      scores_[place] += idf * (1 - missing_[place]) * (1 - thread);
      missing_[place] = 1;
    }
    for (const std::uint32_t thread : touched_threads_) {
      thread_scores_[thread] += idf * weights_.thread * thread_best_[thread];
      thread_best_[thread] = 0;
    }
    touched_.clear();
    touched_threads_.clear();
  }

  const Corpus& corpus_;
  const KernelWeights& weights_;
  const float average_;
  std::vector<float> scores_;
  std::vector<float> missing_;  // of the current term: Π (1 − weight · x)
  std::vector<float> thread_best_;
  std::vector<float> thread_scores_;
  std::vector<Place> touched_;
  std::vector<std::uint32_t> touched_threads_;
  std::vector<Occurrence> merged_;
};

}  // namespace

std::vector<float> lexical_scores(const Corpus& corpus, const std::vector<QueryTerm>& terms,
                                  const KernelWeights& weights) {
  Kernel kernel(corpus, weights);
  for (const QueryTerm& term : terms) kernel.add(term);
  return kernel.finish();
}

}  // namespace skein
