#include "thread/extract/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "core/text.h"
#include "skein/tokens.h"
#include "thread/extract/sentences.h"

namespace skein {
namespace {

constexpr std::size_t kLongestSentence = 400;  // bytes; longer ones are cut
constexpr std::size_t kMostOfTool = 20;        // sentences of one tool response
constexpr std::size_t kAnswersWithin = 4;      // parts after a question
constexpr std::size_t kTimes = 12;

bool contains_any(std::string_view text, const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

bool says_a_decision(std::string_view sentence) {
  static const std::vector<std::string_view> kCues = {
      "decid",       "decision",    "agreed",      "we will",    "we'll",    "let's use",
      "let us use",  "go with",     "going with",  "chose",      "settled",  "must ",
      "from now on", "conclusion",  "the plan is", "instead of", "approved", "rejected",
      "wir nehmen",  "entschieden", "beschlossen", "décid",      "decidi",   "решили",
      "决定",        "決定",        "确定",        "決め",       "同意",     "选择",
      "결정"};
  return contains_any(ascii_lower(sentence), kCues);
}

bool is_question(std::string_view sentence) {
  while (!sentence.empty() && (sentence.back() == ')' || sentence.back() == '"')) {
    sentence.remove_suffix(1);
  }
  return sentence.ends_with("?") || sentence.ends_with("？") || sentence.ends_with("؟");
}

// "Decisions:" and other lines that announce what follows.
bool is_heading(std::string_view sentence) {
  return sentence.ends_with(':') && sentence.size() < 60;
}

// Cut at a space, if there is one near the end, and never inside a character.
std::string shortened(std::string_view sentence) {
  if (sentence.size() <= kLongestSentence) return std::string(sentence);
  std::size_t end = beginning(sentence, kLongestSentence).size();
  const std::size_t space = sentence.rfind(' ', end);
  if (space != std::string_view::npos && space + 60 > end) end = space;
  return std::string(sentence.substr(0, end)) + "…";
}

double factor_of(const SummaryPart& part) {
  if (part.memory_type == MemoryType::kDecisionPoint) return 3;
  if (part.memory_type == MemoryType::kContextSummary) return 2;
  switch (part.role) {
    case Role::kUser:
      return 1.3;
    case Role::kAssistant:
      return 1;
    case Role::kSystem:
      return 1;
    case Role::kTool:
      return 0.3;
  }
  return 1;
}

class Gatherer {
 public:
  explicit Gatherer(const std::vector<SummaryPart>& parts) : parts_(parts) {}

  SummaryMaterial gather() {
    for (std::size_t i = 0; i < parts_.size(); ++i) add_part(i);
    weigh();
    settle_questions();
    spread_over_time();
    for (Sentence& sentence : material_.sentences) {
      sentence.tokens = static_cast<std::uint32_t>(count_tokens(sentence.line)) + 1;
    }
    return std::move(material_);
  }

 private:
  void add_part(std::size_t number) {
    const SummaryPart& part = parts_[number];
    const bool summary = part.memory_type == MemoryType::kContextSummary;
    SentenceKind section = SentenceKind::kOther;
    std::unordered_set<std::uint32_t> in_part;
    std::size_t taken = 0;
    for (const std::string_view sentence : split_sentences(part.text)) {
      if (is_heading(sentence)) {
        if (sentence == kDecisionsHeading) section = SentenceKind::kDecision;
        if (sentence == kQuestionsHeading) section = SentenceKind::kOpenQuestion;
        if (sentence == kOthersHeading) section = SentenceKind::kOther;
        continue;
      }
      if (part.role == Role::kTool && ++taken > kMostOfTool) break;
      add_sentence(number, sentence, summary ? section : kind_in(part, sentence), in_part);
    }
    for (const std::uint32_t id : in_part) ++parts_with_[id];
    terms_of_part_.push_back(std::move(in_part));
  }

  static SentenceKind kind_in(const SummaryPart& part, std::string_view sentence) {
    if (part.role == Role::kTool) return SentenceKind::kOther;
    if (is_question(sentence)) return SentenceKind::kOpenQuestion;
    const bool decides =
        part.memory_type == MemoryType::kDecisionPoint || says_a_decision(sentence);
    return decides ? SentenceKind::kDecision : SentenceKind::kOther;
  }

  void add_sentence(std::size_t number, std::string_view text, SentenceKind kind,
                    std::unordered_set<std::uint32_t>& in_part) {
    const SummaryPart& part = parts_[number];
    Sentence sentence;
    sentence.kind = kind;
    sentence.factor = factor_of(part);
    const std::string body = shortened(text);
    for (const Term& term : table_.terms_of(body)) {
      sentence.terms.push_back(term.id);
      in_part.insert(term.id);
      parts_with_.resize(table_.size());
      notable_.resize(table_.size());
      if (term.notable) notable_[term.id] = true;
    }
    if (sentence.terms.empty()) return;
    // The lines of an earlier summary say where they come from.
    sentence.line =
        part.memory_type == MemoryType::kContextSummary
            ? "- " + body
            : "- " + std::to_string(part.seq) + ' ' + to_string(part.role) + ": " + body;
    part_of_sentence_.push_back(number);
    material_.sentences.push_back(std::move(sentence));
  }

  void weigh() {
    const auto parts = static_cast<double>(parts_.size());
    material_.weights.resize(parts_with_.size());
    for (std::size_t id = 0; id < parts_with_.size(); ++id) {
      const double with = parts_with_[id];
      if (with == 0) continue;
      material_.weights[id] =
          std::log1p(with) * std::log1p(parts / with) * (notable_[id] ? 1.6 : 1.0);
    }
  }

  // A question that somebody else took up soon after is none any more.
  void settle_questions() {
    for (std::size_t i = 0; i < material_.sentences.size(); ++i) {
      Sentence& sentence = material_.sentences[i];
      const std::size_t number = part_of_sentence_[i];
      if (sentence.kind != SentenceKind::kOpenQuestion ||
          parts_[number].memory_type == MemoryType::kContextSummary) {
        continue;
      }
      const std::size_t end = std::min(parts_.size(), number + 1 + kAnswersWithin);
      for (std::size_t later = number + 1; later < end; ++later) {
        if (parts_[later].role == parts_[number].role) continue;
        if (share_of(sentence, terms_of_part_[later]) >= 0.25) {
          sentence.kind = SentenceKind::kOther;
          break;
        }
      }
    }
  }

  // Each twelfth of the conversation counts as something to be covered, too: of sentences that say
  // equally much, those from different times are chosen.
  void spread_over_time() {
    std::vector<double>& weights = material_.weights;
    if (weights.empty()) return;
    const double mean =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    const auto first = static_cast<std::uint32_t>(weights.size());
    weights.resize(weights.size() + kTimes, 2 * mean);
    for (std::size_t i = 0; i < material_.sentences.size(); ++i) {
      if (material_.sentences[i].terms.size() < 3) continue;  // "Fine." is short, and says as much
      const std::size_t time = part_of_sentence_[i] * kTimes / parts_.size();
      material_.sentences[i].terms.push_back(first + static_cast<std::uint32_t>(time));
    }
  }

  static double share_of(const Sentence& sentence, const std::unordered_set<std::uint32_t>& terms) {
    const auto common = std::count_if(sentence.terms.begin(), sentence.terms.end(),
                                      [&terms](std::uint32_t id) { return terms.contains(id); });
    return static_cast<double>(common) / static_cast<double>(sentence.terms.size());
  }

  const std::vector<SummaryPart>& parts_;
  TermTable table_;
  std::vector<std::uint32_t> parts_with_;  // by term
  std::vector<bool> notable_;              // by term
  std::vector<std::unordered_set<std::uint32_t>> terms_of_part_;
  std::vector<std::size_t> part_of_sentence_;
  SummaryMaterial material_;
};

}  // namespace

SummaryMaterial gather_material(const std::vector<SummaryPart>& parts) {
  return Gatherer(parts).gather();
}

}  // namespace skein
