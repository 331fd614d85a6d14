#include "thread/passing_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/try.h"
#include "skein/tokens.h"
#include "thread/event_kind.h"

namespace skein {
namespace {

constexpr std::uint64_t kMostTokens = 1000;
constexpr std::uint64_t kFewestTokens = 40;

SeqSet newest_of(const SeqSet& seqs, std::uint64_t count) {
  std::vector<SeqRange> ranges;
  for (auto range = seqs.ranges().rbegin(); range != seqs.ranges().rend() && count > 0; ++range) {
    const std::uint64_t taken = std::min(count, range->last - range->first + 1);
    ranges.push_back({range->last - taken + 1, range->last});
    count -= taken;
  }
  return SeqSet(std::move(ranges));
}

std::optional<SummaryPart> part_of(Event& event) {
  SummaryPart part{event.seq, Role::kUser, event.memory_type, {}};
  if (auto* message = std::get_if<Message>(&event.payload)) {
    part.role = message->role;
    part.text = std::move(message->text);
  } else if (auto* said = std::get_if<AssistantText>(&event.payload)) {
    part.role = Role::kAssistant;
    part.text = std::move(said->text);
  } else if (auto* call = std::get_if<ToolUse>(&event.payload)) {
    part.role = Role::kTool;
    part.text = call->name + ' ' + call->input.text();
  }
  return part.text.empty() ? std::nullopt : std::optional(std::move(part));
}

}  // namespace

std::uint64_t passing_summary_budget(std::uint64_t left) {
  const std::uint64_t share = std::min(left / 4, kMostTokens);
  return share < kFewestTokens ? 0 : share;
}

Result<std::vector<SummaryPart>> read_summary_parts(Store& store, ThreadId thread,
                                                    const SeqSet& seqs) {
  std::vector<SummaryPart> parts;
  for (const SeqRange& part : seqs.ranges()) {
    ReadRange range;
    range.from = part.first;
    range.limit = part.last - part.first + 1;
    SKEIN_TRY(store.read(thread, range, [&parts](Event& event) {
      if (kind_of(event) == EventKind::kUndo) return true;
      if (auto made = part_of(event)) parts.push_back(std::move(*made));
      return true;
    }));
  }
  return parts;
}

Result<std::string> checked_summary(Summarizer& summarizer, const std::vector<SummaryPart>& parts,
                                    std::uint64_t max_tokens) {
  SKEIN_ASSIGN(std::string text, summarizer.summarize(parts, max_tokens));
  const std::size_t tokens = count_tokens(text);
  if (tokens <= max_tokens) return text;
  return fail(
      ErrorCode::kInvalid,
      fmt::format("a summary must have at most {} tokens, got one of {}", max_tokens, tokens));
}

Result<std::optional<PassingSummary>> summarise_in_passing(Store& store, ThreadId thread,
                                                           Summarizer& summarizer,
                                                           const SeqSet& seqs,
                                                           std::uint64_t budget) {
  budget = std::min(budget, kMostTokens);
  if (budget <= kMessageOverhead || seqs.empty()) return std::nullopt;
  PassingSummary summary;
  summary.covers = newest_of(seqs, kMaxSummarisedInPassing);
  SKEIN_ASSIGN(const auto parts, read_summary_parts(store, thread, summary.covers));
  if (parts.empty()) return std::nullopt;
  SKEIN_ASSIGN(std::string text, checked_summary(summarizer, parts, budget - kMessageOverhead));
  if (text.empty()) return std::nullopt;
  summary.event.payload = Message{Role::kSystem, std::move(text)};
  summary.event.memory_type = MemoryType::kContextSummary;
  summary.event.metadata = covers_metadata(summary.covers.ranges());
  summary.cost = cost_of(summary.event);
  return summary;
}

}  // namespace skein
