// A question, taken apart into what messages are compared with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recall/rank/corpus.h"
#include "recall/text/analyzer.h"
#include "recall/text/dates.h"
#include "skein/error.h"

namespace skein {

// Every term that any message has.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  // Nothing: no message has it.
  virtual Result<std::optional<TermId>> find(std::string_view term) = 0;
  // Tells all terms that begin with the same character, until the sink says false.
  using Sink = std::function<bool(std::string_view term, TermId id)>;
  virtual Result<void> each_like(std::string_view term, const Sink& sink) = 0;
};

struct Alternative {
  TermId term = 0;
  float weight = 1;  // below 1: it is not quite what was asked for
};

struct QueryTerm {
  std::string shown;  // the word as it was asked
  std::vector<Alternative> alternatives;
};

struct Speaker {
  SpeakerId id = 0;
  std::string name;
};

struct Question {
  std::vector<QueryTerm> terms;
  std::vector<SpeakerId> speakers;  // who is named; empty as well if all are
  bool asks_of_user = false;        // it says "I" or "my"
  bool asks_of_assistant = false;   // it says "you" or "assistant"
  std::vector<DateHint> dates;
};

// Words are looked up in the languages that the corpus has. `speakers` are those of the corpus.
// Nothing in the text has a meaning but its words.
Result<Question> make_question(std::string_view text, Timestamp now, const Corpus& corpus,
                               std::span<const Speaker> speakers, Analyzer& analyzer,
                               Vocabulary& vocabulary);

// Insertions, deletions, replacements and swaps of neighbours that make one of the other; `limit` +
// 1 where they are more than `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace skein
