#include "thread/tool_pairs.h"

#include "core/try.h"
#include "skein/context.h"

namespace skein {

std::optional<Seq> ToolPairs::tell(const Event& event) {
  const EventKind kind = kind_of(event);
  if (kind != opens_ && kind != closes_) return std::nullopt;
  const std::string id = tool_call_id(event);
  if (kind == opens_) {
    open_[id].push_back(event.seq);
    return std::nullopt;
  }
  const auto found = open_.find(id);
  if (found == open_.end()) return std::nullopt;
  const Seq other = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) open_.erase(found);
  return other;
}

std::vector<Seq> ToolPairs::open() const {
  std::vector<Seq> all;
  for (const auto& [id, seqs] : open_) all.insert(all.end(), seqs.begin(), seqs.end());
  return all;
}

Result<std::optional<Event>> find_other_half(const ThreadIndex& index, const Event& event) {
  const EventKind kind = kind_of(event);
  if (kind != EventKind::kToolCall && kind != EventKind::kToolResponse) return std::nullopt;
  const bool forward = kind == EventKind::kToolCall;
  if (forward ? event.seq >= index.last() : event.seq <= 1) return std::nullopt;
  ReadRange range;
  range.direction = forward ? Direction::kForward : Direction::kBackward;
  range.from = forward ? event.seq + 1 : event.seq - 1;
  range.view = View::kPath;
  range.head = index.last();
  range.limit = kToolPairReach;
  ToolPairs pairs(range.direction);
  pairs.tell(event);
  std::optional<Event> half;
  SKEIN_TRY(index.read(range, [&](Event& other) {
    if (pairs.tell(other) == event.seq) half = std::move(other);
    return !half.has_value();
  }));
  return half;
}

}  // namespace skein
