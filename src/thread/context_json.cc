#include <fmt/format.h>

#include "core/json_object.h"
#include "core/quote.h"
#include "skein/context.h"

namespace skein {
namespace {

template <class T, class ToJson>
std::string array_of(const std::vector<T>& items, ToJson one) {
  std::string text = "[";
  for (const T& item : items) {
    if (text.size() > 1) text += ',';
    text += one(item);
  }
  return text + ']';
}

std::string entry_json(const LedgerEntry& entry) {
  JsonObject object;
  if (entry.seqs) object.add("from", entry.seqs->first).add("to", entry.seqs->last);
  object.add("what", to_string(entry.what)).add("why", entry.why).add("tokens", entry.tokens);
  if (entry.estimated) object.add("estimated", true);
  return object.str();
}

}  // namespace

const char* to_string(ContextStrategy strategy) {
  switch (strategy) {
    case ContextStrategy::kRecent:
      return "recent";
    case ContextStrategy::kSummary:
      return "summary";
    case ContextStrategy::kHybrid:
      return "hybrid";
  }
  return "";
}

const char* to_string(Disposition what) {
  switch (what) {
    case Disposition::kIn:
      return "in";
    case Disposition::kSummarised:
      return "summarised";
    case Disposition::kLeftOut:
      return "left_out";
  }
  return "";
}

Result<ContextStrategy> parse_context_strategy(std::string_view text) {
  for (const ContextStrategy strategy :
       {ContextStrategy::kRecent, ContextStrategy::kSummary, ContextStrategy::kHybrid}) {
    if (text == to_string(strategy)) return strategy;
  }
  return fail(ErrorCode::kInvalid,
              "strategy must be recent, summary or hybrid, got " + quote(text));
}

std::string to_json(const ContextWindow& context) {
  return JsonObject()
      .add_json("messages",
                array_of(context.messages, [](const Event& event) { return to_json(event); }))
      .add_json("ledger", array_of(context.ledger, entry_json))
      .add("tokens", context.tokens)
      .add("strategy", to_string(context.strategy))
      .str();
}

}  // namespace skein
