// Reading events.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/sqlite.h"
#include "skein/store.h"
#include "store/checks.h"
#include "store/sqlite/known_threads.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/rows.h"

namespace skein::sqlite {

// A piece of a thread, copied out of the file so that no snapshot stays open while it is used. For
// one thread.
class EventChunk {
 public:
  // Loads from the front of the span (kBackward: from its end), up to `limit` events and until the
  // chunk is full, at least one. Every position is there: what cannot be read is a missing row.
  // kDamaged: the next one is missing, and so are more than a thread can have lost.
  Result<void> load(Database& database, ThreadId id, SeqSpan span, Direction direction,
                    std::uint64_t limit);

  // In the order of the direction. Bodies are followed by JsonObjectReader::kPadding bytes.
  std::span<const EventRow> rows() const { return rows_; }

 private:
  Result<void> load_range(Database& database, ThreadId id, SeqSpan span, Direction direction,
                          std::uint64_t limit);
  void load_singly(Database& database, ThreadId id, SeqSpan span, Direction direction,
                   std::uint64_t limit);
  Result<void> check_missing(Database& database, ThreadId id, Seq last);
  void add(const EventRow& row);
  void add_missing(ThreadId id, Seq seq, const char* why);
  bool full(std::uint64_t limit) const;

  std::vector<EventRow> rows_;
  std::vector<std::size_t> offsets_;  // of each row's key in bytes_; its body follows
  std::string bytes_;
  LossCheck losses_;
};

Result<void> read_events(Readers& readers, KnownThreads& known, ThreadId id, const ReadRange& range,
                         const EventSink& sink);

Result<std::vector<Branch>> load_branches(Database& database, ThreadId id);

// How many events up to `last` the thread has; at least as many as it can have, where the file does
// not say.
Result<std::uint64_t> count_events(Database& database, ThreadId id, Seq last);

}  // namespace skein::sqlite
