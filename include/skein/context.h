// What of a thread a model gets to see when not all of it fits: the messages, and a ledger that
// says of every event what became of it.
//
// All strategies keep to this:
// - Only the current path counts; what was rolled back or edited away is left out.
// - System messages stay, and so do summaries in force (summary.h). The newest user message is in.
//   Where these alone exceed the budget, the call fails with kInvalid and says how many tokens it
//   needs.
// - A tool's call and its response are in together or out together: a tool_use and the next message
//   of role tool with the same metadata.tool_call_id, at most kToolPairReach events apart.
// - What is in is in verbatim, in the order of the path. A summary stands where what it covers
//   stood.
//
// kRecent fills up with the newest messages until one does not fit. kSummary does the same with
// what no summary covers; where that does not fit, the older part of it is summarised for this
// context alone. kHybrid puts key messages first: pinned ones, decisions, and those that best match
// the newest question.
//
// Tokens are o200k_base (tokens.h), counted on the text itself, and kMessageOverhead for each
// message. What is no text, such as an image, is estimated, and the ledger says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"
#include "skein/summary.h"

namespace skein {

inline constexpr std::uint64_t kMessageOverhead = 4;  // tokens around each message
inline constexpr std::uint64_t kImageTokens = 1600;   // the estimate for one image
inline constexpr std::size_t kToolPairReach = 1024;   // events between a call and its response
inline constexpr std::size_t kMaxSummarisedInPassing = 1000;  // events that a context summarises

enum class ContextStrategy { kRecent, kSummary, kHybrid };

// Finds the messages of a thread that have most to do with a question.
class MessageFinder {
 public:
  virtual ~MessageFinder() = default;
  // Up to `limit` positions, the best first. Those that are not on the current path, or no
  // messages, are passed over.
  virtual Result<std::vector<Seq>> find(ThreadId thread, std::string_view question,
                                        std::size_t limit) = 0;
};

struct ContextRequest {
  std::uint64_t max_tokens = 8000;
  ContextStrategy strategy = ContextStrategy::kRecent;
  MessageFinder* finder = nullptr;   // borrowed; none: by the words of the newest 400 messages
  Summarizer* summarizer = nullptr;  // borrowed; none: extractive_summarizer()
};

enum class Disposition { kIn, kSummarised, kLeftOut };

struct LedgerEntry {
  // The events that it is about. None for a summary that was made for this context.
  std::optional<SeqRange> seqs;
  Disposition what = Disposition::kLeftOut;
  std::string why;
  std::uint64_t tokens = 0;
  bool estimated = false;  // some of the tokens are an estimate
};

struct ContextWindow {
  std::vector<Event> messages;  // messages, tool_use and assistant_text, as they are stored
  // In rising order and without overlaps, from the first event to the last. A summary that was
  // undone and the event that undid it cancel each other and are not listed. The tokens of what is
  // kIn add up to `tokens`.
  std::vector<LedgerEntry> ledger;
  std::uint64_t tokens = 0;
  ContextStrategy strategy = ContextStrategy::kRecent;
};

// kNotFound: no such thread. Writes nothing but derived data, and works where that cannot be
// written.
Result<ContextWindow> make_context(Store& store, ThreadId thread, const ContextRequest& request);

// Removes the derived data that make_context keeps of a thread, for one that is being removed.
Result<void> forget_context(Store& store, ThreadId thread);

const char* to_string(ContextStrategy strategy);
const char* to_string(Disposition what);
Result<ContextStrategy> parse_context_strategy(std::string_view text);

// {"messages":[…],"ledger":[{"from":1,"to":40,"what":"summarised","why":…,"tokens":N}…],
// "tokens":N,"strategy":…}; "estimated":true where it applies.
std::string to_json(const ContextWindow& context);

}  // namespace skein
