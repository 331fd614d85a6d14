// Summaries of what is old in a thread.
//
// A summary is one more event: a message of role system and memory type context_summary, whose
// metadata.covers lists the positions it stands for as ranges [[first, last], …]. Nothing that it
// covers is changed. Undoing it is one more event, with metadata.undoes. A later summary may cover
// earlier ones; then those are no longer in force, until it is undone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"

namespace skein {

struct SeqRange {
  Seq first = 0;
  Seq last = 0;  // inclusive

  friend bool operator==(const SeqRange&, const SeqRange&) = default;
};

// One event that is to be summarised.
struct SummaryPart {
  Seq seq = 0;
  Role role = Role::kUser;
  std::optional<MemoryType> memory_type{};  // kContextSummary: an earlier summary
  std::string text{};
};

// Makes summaries: make_engine_summarizer() (skein/engine_summary.h) by an engine,
// extractive_summarizer() without one.
class Summarizer {
 public:
  virtual ~Summarizer() = default;
  // A text of at most `max_tokens` tokens (o200k_base) that stands for the parts, which are in
  // order. A longer one is refused by the caller.
  virtual Result<std::string> summarize(const std::vector<SummaryPart>& parts,
                                        std::uint64_t max_tokens) = 0;
  // The model that wrote the last one; empty: none did, its sentences are those of the text.
  virtual std::string model() const { return {}; }
};

// Chooses sentences of the text itself, so that together they cover what is said most and nowhere
// else; decisions, open questions, names and numbers weigh more. The same parts give the same
// summary. Thread-safe; lives as long as the program.
Summarizer& extractive_summarizer();

struct SummarizeRequest {
  std::uint64_t threshold = 50;      // nothing is done unless more messages are not yet summarised
  std::uint64_t keep_recent = 10;    // the newest messages that stay as they are
  std::uint64_t max_tokens = 600;    // of the summary
  Summarizer* summarizer = nullptr;  // borrowed; none: extractive_summarizer()
  std::optional<LeaseToken> fence{};
};

struct Summary {
  Seq seq = 0;  // of the summary itself
  std::vector<SeqRange> covers;
  std::string text;
  std::string model{};  // that wrote it; empty: its sentences are those of the thread
};

// Appends a summary of everything on the current path but system messages and the newest
// `keep_recent` messages. Tool calls and their responses are covered together or not at all.
// Nothing, when there are no more than `threshold` messages, or nothing that could be covered.
// kNotFound; kFenced; kConflict when the thread was taken back behind what was summarised
// meanwhile.
Result<std::optional<Summary>> summarize_thread(Store& store, ThreadId thread,
                                                const SummarizeRequest& request);

struct UndoRequest {
  std::optional<Seq> seq{};  // of the summary; none: the newest that is in force
  std::optional<LeaseToken> fence{};
};

// Takes a summary out of force; answers the seq of the summary. kNotFound: no such thread, or no
// such summary in force.
Result<Seq> undo_summary(Store& store, ThreadId thread, const UndoRequest& request);

}  // namespace skein
