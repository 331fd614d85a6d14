// Extractive summaries: of all sets of sentences that fit, one that covers much of what is said.
//
// Covering is submodular (the second sentence on a matter adds less than the first), so taking the
// sentence that adds most for its length, again and again, comes close to the best set. What a
// sentence adds only ever sinks; that is why the queue needs to look again only at its first.
#include <algorithm>
#include <cmath>
#include <queue>

#include "skein/summary.h"
#include "skein/tokens.h"
#include "thread/extract/candidates.h"

namespace skein {
namespace {

class Extractor {
 public:
  Extractor(const SummaryMaterial& material, std::uint64_t max_tokens)
      : material_(material),
        max_tokens_(max_tokens),
        covered_(material.weights.size()),
        taken_(material.sentences.size()) {}

  std::string summary(std::size_t parts) {
    const std::string title = "Summary of " + std::to_string(parts) + " earlier messages.\n";
    const std::uint64_t frame = count_tokens(title) + kHeadingTokens;
    if (max_tokens_ <= frame) return {};
    const std::uint64_t room = max_tokens_ - frame;
    take(SentenceKind::kDecision, room * 2 / 5);
    take(SentenceKind::kOpenQuestion, room / 5);
    take(std::nullopt, room - used_);
    while (!order_.empty()) {
      std::string text = title + body();
      if (count_tokens(text) <= max_tokens_) return text;
      taken_[order_.back()] = false;
      order_.pop_back();
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kHeadingTokens = 12;

  struct Entry {
    double worth;
    std::size_t sentence;
    bool operator<(const Entry& other) const {
      return worth != other.worth ? worth < other.worth : sentence > other.sentence;
    }
  };

  double worth(std::size_t number) const {
    const Sentence& sentence = material_.sentences[number];
    double gain = 0;
    for (const std::uint32_t term : sentence.terms) {
      if (!covered_[term]) gain += material_.weights[term];
    }
    return gain * sentence.factor / std::pow(sentence.tokens, 0.8);
  }

  // Takes sentences of the kind (or of any) for up to so many tokens.
  void take(std::optional<SentenceKind> kind, std::uint64_t tokens) {
    std::priority_queue<Entry> queue;
    for (std::size_t i = 0; i < material_.sentences.size(); ++i) {
      if (taken_[i] || (kind && material_.sentences[i].kind != *kind)) continue;
      queue.push({worth(i), i});
    }
    while (!queue.empty() && tokens > 0) {
      const Entry best = queue.top();
      queue.pop();
      const double now = worth(best.sentence);
      if (now <= 0) continue;
      if (now < best.worth && !queue.empty() && now < queue.top().worth) {
        queue.push({now, best.sentence});
        continue;
      }
      const Sentence& sentence = material_.sentences[best.sentence];
      if (sentence.tokens > tokens) continue;
      tokens -= sentence.tokens;
      used_ += sentence.tokens;
      taken_[best.sentence] = true;
      order_.push_back(best.sentence);
      for (const std::uint32_t term : sentence.terms) covered_[term] = true;
    }
  }

  std::string body() const {
    std::string text;
    const auto add = [&](SentenceKind kind, std::string_view heading) {
      bool first = true;
      for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i] || material_.sentences[i].kind != kind) continue;
        if (first) text.append(heading).append("\n");
        first = false;
        text.append(material_.sentences[i].line).append("\n");
      }
    };
    add(SentenceKind::kDecision, kDecisionsHeading);
    add(SentenceKind::kOpenQuestion, kQuestionsHeading);
    add(SentenceKind::kOther, kOthersHeading);
    if (!text.empty()) text.pop_back();
    return text;
  }

  const SummaryMaterial& material_;
  const std::uint64_t max_tokens_;
  std::vector<bool> covered_;  // by term
  std::vector<bool> taken_;    // by sentence
  std::vector<std::size_t> order_;
  std::uint64_t used_ = 0;
};

class ExtractiveSummarizer final : public Summarizer {
 public:
  Result<std::string> summarize(const std::vector<SummaryPart>& parts,
                                std::uint64_t max_tokens) override {
    const SummaryMaterial material = gather_material(parts);
    return Extractor(material, max_tokens).summary(parts.size());
  }
};

}  // namespace

Summarizer& extractive_summarizer() {
  static ExtractiveSummarizer summarizer;
  return summarizer;
}

}  // namespace skein
