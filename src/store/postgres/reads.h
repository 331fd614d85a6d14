// Reading events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"
#include "store/checks.h"
#include "store/postgres/pool.h"
#include "store/postgres/rows.h"

namespace skein::postgres {

// A piece of a thread, taken from the server at once. For one thread.
class EventChunk {
 public:
  // Loads from the front of the span (kBackward: from its end), up to `limit` events and until the
  // chunk is full, at least one. Every position is there: what is not, is a missing row.
  // False: so are the thread and all of its events. kDamaged: the next event is missing, and so are
  // more than a thread can have lost.
  Result<bool> load(Connection& connection, ThreadId id, SeqSpan span, Direction direction,
                    std::uint64_t limit, Deadline deadline);

  // In the order of the direction. Bodies are followed by JsonObjectReader::kPadding bytes.
  const std::vector<EventRow>& rows() const { return rows_; }

 private:
  void add(const EventRow& row);
  Result<void> check_missing(Connection& connection, ThreadId id, Seq last, Deadline deadline);

  std::vector<EventRow> rows_;
  std::vector<std::size_t> offsets_;  // of each row's key in bytes_; its body follows
  std::string bytes_;
  LossCheck losses_;
};

Result<void> read_events(Pool& pool, ThreadId id, const ReadRange& range, const EventSink& sink);

Result<std::vector<Branch>> load_branches(Connection& connection, ThreadId id, Deadline deadline);

// Nothing: no such thread. kDamaged: its manifest does not verify.
Result<std::optional<Manifest>> get_thread(Pool& pool, const ThreadRef& ref);

}  // namespace skein::postgres
