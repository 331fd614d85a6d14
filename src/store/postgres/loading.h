// What a transaction must know before it decides, locked and read in one round trip.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/entering.h"
#include "store/postgres/rows.h"

namespace skein::postgres {

using EventKey = std::pair<ThreadId, std::string>;       // thread, idempotency key
using RecordName = std::pair<std::string, std::string>;  // collection, key

// An event that a transaction wrote, by which one can tell whether it was committed.
struct Witness {
  ThreadId thread;
  Seq seq = 0;
  std::int64_t mark = 0;  // of the transaction
  auto operator<=>(const Witness&) const = default;
};

// Events that are to be put at the end of a thread.
struct Growth {
  Seq count = 0;
  std::int64_t latest = 0;  // of their times
};

// Sets are in order, and locked in that order, so that no two transactions wait for each other.
struct Wanted {
  // Threads whose heads may be moved on at once, in the hope that all appends to them go through.
  std::map<ThreadId, Growth> grown;
  std::set<ThreadId> threads;    // locked
  std::set<ThreadId> manifests;  // of those
  std::set<EventKey> keys;
  std::set<RecordName> records;  // locked
  std::set<std::string> aliases;
  std::set<std::pair<ThreadId, Seq>> prefixes;  // the latest time among events 1 … seq
  std::set<Witness> witnesses;
  std::size_t positions = 0;

  // Heads are moved only when nothing else is done to threads: they are locked otherwise.
  void move_no_heads();
  // Whether events are put at the ends of threads, and nothing else is asked for. Keys are: one
  // that is used twice is refused by the table.
  bool only_growth() const;
};

// An event that a key stands for: of the database, or of this transaction.
struct KnownEvent {
  Seq seq = 0;
  const Event* event = nullptr;
  std::unique_ptr<Event> owned{};
};

// What was found. Those who write change it along, for those who come after them in the same
// transaction.
struct Loaded {
  std::map<ThreadId, Head> heads;
  // Of heads that were moved on: the last seq that is stored. In `heads` they are as before.
  std::map<ThreadId, Seq> foreseen;
  std::map<ThreadId, Result<Manifest>> manifests;
  std::map<EventKey, KnownEvent> keys;
  std::map<RecordName, Version> records;
  std::map<std::string, ThreadId> aliases;
  std::map<std::pair<ThreadId, Seq>, std::int64_t> prefixes;
  std::set<Witness> witnesses;
  std::vector<std::int64_t> positions;  // for this transaction alone; rising
  std::size_t used = 0;
  std::int64_t server_ms = 0;  // the server's clock
  // Not empty: nothing was asked for. `heads` are as they were left last; if they are so still,
  // they move on together with the events that are appended, and nothing else happens.
  std::map<ThreadId, Growth> grown;

  // Null: no such thread.
  Head* head(ThreadId id);
  // 0: there is no such record.
  Version record(const RecordName& name) const;
  std::int64_t next_g() { return positions.at(used++); }
  // Whether all heads that were moved on have by now come to where they were moved.
  bool as_foreseen();
};

// Begins a transaction and queues, after it, all that is wanted.
void queue_loading(Connection& connection, const Entering& entering, const Wanted& wanted);
// The answers to that.
Loaded take_loaded(const Wanted& wanted, const std::vector<Answer>& answers);

}  // namespace skein::postgres
