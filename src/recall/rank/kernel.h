// How well the words of messages fit a question, where what surrounds a message speaks for it too.
#pragma once

#include <array>
#include <vector>

#include "recall/rank/corpus.h"
#include "recall/rank/question.h"

namespace skein {

struct KernelWeights {
  // A term occurs x = tf / (tf + saturation · (1 − length + length · words / average words)).
  float saturation = 0.7F;
  float length = 0.4F;
  // How much of that counts for the messages after, and before, the one that has the term.
  std::array<float, 3> previous = {0.4F, 0.3F, 0.1F};
  float asked = 0.8F;  // instead of previous[0], where that one is a question: this is its answer
  std::array<float, 3> next = {0.5F, 0.25F, 0.1F};
  float thread = 0.1F;  // and for all messages of the thread
  // Messages with more words lean less on their neighbours.
  float leaning_words = 40;
};

// One score for each place. A term counts once, however many of a message and its surroundings have
// it: c = 1 − Π (1 − weight · x), and a score is the sum of idf · c over the terms.
std::vector<float> lexical_scores(const Corpus& corpus, const std::vector<QueryTerm>& terms,
                                  const KernelWeights& weights = {});

}  // namespace skein
