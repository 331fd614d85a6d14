#include "store/postgres/known_heads.h"

namespace skein::postgres {

std::optional<Loaded> KnownHeads::recall(const Wanted& wanted) {
  if (!wanted.only_growth()) return std::nullopt;
  Loaded loaded;
  bool trusted = true;
  for (const auto& [id, growth] : wanted.grown) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    Entry& entry = found->second;
    if (entry.doubts > 0) {
      --entry.doubts;
      trusted = false;
    }
    loaded.heads.emplace(id, entry.head);
    loaded.foreseen[id] = entry.head.last_seq + growth.count;
  }
  if (!trusted) return std::nullopt;
  loaded.grown = wanted.grown;
  return loaded;
}

void KnownHeads::remember(const Loaded& loaded) {
  if (entries_.size() + loaded.heads.size() > kMost) entries_.clear();
  for (const auto& [id, head] : loaded.heads) entries_[id].head = head;
}

void KnownHeads::doubt(const Wanted& wanted) {
  for (const auto& [id, growth] : wanted.grown) entries_[id].doubts = kDoubts;
}

}  // namespace skein::postgres
