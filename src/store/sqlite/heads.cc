#include "store/sqlite/heads.h"

#include "core/try.h"
#include "store/checks.h"

namespace skein::sqlite {
namespace {

constexpr char kThread[] =
    "SELECT agent, updated, listed, version, status FROM threads WHERE id = ?";
constexpr char kLastEvent[] =
    "SELECT seq, updated, lag, g FROM events INDEXED BY events_by_thread"
    " WHERE id = ? AND seq BETWEEN 1 AND ? ORDER BY seq DESC LIMIT 1";

}  // namespace

Result<std::optional<Head>> load_head(Database& database, ThreadId id) {
  SKEIN_ASSIGN(Query thread, database.query(kThread));
  SKEIN_ASSIGN(const bool known, thread.bind(id.bits()).step());
  if (!known) return std::nullopt;
  Head head{.agent = thread.integer(0),
            .status = static_cast<int>(thread.integer(4)),
            .updated = thread.integer(1),
            .listed = thread.integer(2),
            .last_seq = 0,
            .version = static_cast<Version>(thread.integer(3))};
  SKEIN_ASSIGN(Query event, database.query(kLastEvent));
  SKEIN_ASSIGN(const bool any, event.bind(id.bits(), kMaxStoredSeq).step());
  if (!any) return head;
  head.last_seq = static_cast<Seq>(event.integer(0));
  if (event.integer(3) > thread.integer(3)) {
    head.updated = event.integer(1);
    head.listed = event.integer(1) - event.integer(2);
  }
  return head;
}

Result<Head*> HeadCache::find(Database& database, ThreadId id) {
  if (const auto found = heads_.find(id); found != heads_.end()) return &found->second;
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  if (!head) return nullptr;
  put(id, *head);
  return &heads_.find(id)->second;
}

void HeadCache::put(ThreadId id, const Head& head) {
  if (heads_.size() >= kMost) heads_.clear();
  heads_.insert_or_assign(id, head);
}

}  // namespace skein::sqlite
