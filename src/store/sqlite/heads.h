// What an append must know of a thread, and a memory of it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/sqlite.h"
#include "skein/ids.h"
#include "skein/store.h"

namespace skein::sqlite {

// How far a thread's place in the list by time of update may be behind, in microseconds. An append
// moves the thread there only when it has fallen further back than this.
inline constexpr std::int64_t kListLagUs = 40'000;

struct Head {
  std::int64_t agent = 0;
  int status = 0;
  std::int64_t updated = 0;  // updated_at, exactly
  std::int64_t listed = 0;   // its entry in `listed`; never later than `updated`
  Seq last_seq = 0;
  Version version = 0;                // of the manifest
  std::optional<LeaseToken> lease{};  // 0: nobody holds it; absent: nobody has looked
  bool end_checked = false;           // an event may follow the last one
};

// Nothing: no such thread. Rows whose seq no event can have do not count as events.
Result<std::optional<Head>> load_head(Database& database, ThreadId id);

// The heads that the writer met, good until another process writes. Bounded. Not thread-safe.
class HeadCache {
 public:
  // Null: no such thread. Good until the next call.
  Result<Head*> find(Database& database, ThreadId id);
  void put(ThreadId id, const Head& head);
  void erase(ThreadId id) { heads_.erase(id); }
  void clear() { heads_.clear(); }

 private:
  static constexpr std::size_t kMost = 1 << 16;
  std::unordered_map<ThreadId, Head> heads_;
};

}  // namespace skein::sqlite
