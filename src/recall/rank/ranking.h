// Messages of a corpus in the order in which they answer a question: a pure function.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recall/rank/corpus.h"
#include "recall/rank/kernel.h"
#include "recall/rank/question.h"

namespace skein {

struct RankWeights {
  KernelWeights kernel;
  // Of standardised parts:
  float lexical = 0.7F;
  float meaning = 0.5F;        // the question and the message
  float surroundings = 0.5F;   // the question and the message with the one before it
  float meaning_alone = 0.7F;  // instead of both, where there is no second vector
  float length = 0.4F;
  // Of parts that are there or not:
  float speaker = 4;
  float month = 2;
  float day = 3;
  float year = 0.5F;
  // A bonus is at most this share of the message's own evidence (words and meaning), so that it
  // cannot lift a message above one with clearly more evidence.
  float named_share = 1;         // the question says who: a name, "I", "my"
  float presumed_share = 0.25F;  // it does not: users are preferred
  float date_share = 3;          // the question names a date
  // From the oldest message to the newest.
  float recency = 0.02F;
};

enum class RankBy { kAll, kWithoutVectors, kVectorsAlone };

struct RankRequest {
  const Question& question;
  std::span<const float> vector{};  // of the question; empty: without
  RankBy by = RankBy::kAll;
  // Which messages are candidates; none: all.
  std::function<bool(Place)> filter{};
  // So many in all, and so many of one thread.
  std::size_t limit = 5;
  std::size_t per_thread = 1;
};

// What each part adds to the score; they add up to it.
struct RankParts {
  float lexical = 0;
  float meaning = 0;
  float surroundings = 0;
  float length = 0;
  float speaker = 0;
  float date = 0;
  float recency = 0;

  float sum() const { return lexical + meaning + surroundings + length + speaker + date + recency; }
};

struct Ranked {
  Place place = 0;
  float score = 0;
  RankParts parts;
};

struct RankOutcome {
  // Best first, of equal ones the newer first. Without vectors, only messages that words of the
  // question speak for.
  std::vector<Ranked> best;
  bool used_words = false;
  bool used_vectors = false;
  std::size_t candidates = 0;
  std::size_t without_vector = 0;  // of these
};

RankOutcome rank(const Corpus& corpus, const RankRequest& request, const RankWeights& weights = {});

}  // namespace skein
