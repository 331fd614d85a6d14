// Retention: archived threads whose days are over, and the record of what went.
//
// Nothing is removed by itself. A thread is due once it has been archived for as many days as its
// `archive.retentionDays` says, and never without that. Before a thread goes, a record of it is
// written into the collection "removals"; after a crash between the two, the thread is still due
// and the next call finishes what was begun. A thread that was restored or changed in between is
// left alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"

namespace skein {

struct DueThread {
  Manifest manifest;
  Timestamp due_at;
  std::string reason;  // in words
};

// All that are due, the longest due first.
Result<std::vector<DueThread>> due_threads(Store& store, Timestamp now);

// Removes it, with a record. False: it is gone already, or no longer as it was when it was due.
Result<bool> remove_due(Store& store, const DueThread& due, Timestamp now);

// What the record says of a thread that went.
struct Removal {
  ThreadId thread;
  std::string agent_id;
  std::uint64_t events = 0;
  Timestamp at;
  std::string reason;
};

std::string to_json(const Removal& removal);

// Every thread that was removed with a record, by id. False from the sink stops.
Result<void> read_removals(Store& store, const std::function<bool(const Removal&)>& sink);

}  // namespace skein
