// The sentences that a summary can be made of, and what speaks for each of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "skein/summary.h"
#include "thread/extract/terms.h"

namespace skein {

enum class SentenceKind { kDecision, kOpenQuestion, kOther };

struct Sentence {
  std::string line;  // as it would stand in the summary: "- 12 user: We take PostgreSQL."
  SentenceKind kind = SentenceKind::kOther;
  double factor = 1;  // how much what it says counts
  std::uint32_t tokens = 0;
  std::vector<std::uint32_t> terms;
};

struct SummaryMaterial {
  std::vector<Sentence> sentences;  // in the order of the parts
  // Of each term: high for what is said in several parts but not in most, and for names and
  // numbers. The last terms are no words but times.
  std::vector<double> weights;
};

SummaryMaterial gather_material(const std::vector<SummaryPart>& parts);

inline constexpr std::string_view kDecisionsHeading = "Decisions:";
inline constexpr std::string_view kQuestionsHeading = "Open questions:";
inline constexpr std::string_view kOthersHeading = "Also said:";

}  // namespace skein
