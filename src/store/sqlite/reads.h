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

// A piece of a thread, copied out of the file so that no snapshot stays open while it is used.
class EventChunk {
 public:
  // Loads from the front of the span (kBackward: from its end), up to `limit` events and until the
  // chunk is full, at least one. Every position is there: what cannot be read is a missing row.
  Result<void> load(Database& database, ThreadId id, SeqSpan span, Direction direction,
                    std::uint64_t limit);

  // In the order of the direction. Bodies are followed by JsonObjectReader::kPadding bytes.
  std::span<const EventRow> rows() const { return rows_; }

 private:
  Result<void> load_range(Database& database, ThreadId id, SeqSpan span, Direction direction,
                          std::uint64_t limit);
  void load_singly(Database& database, ThreadId id, SeqSpan span, Direction direction,
                   std::uint64_t limit);
  void add(const EventRow& row);
  void add_missing(ThreadId id, Seq seq, const char* why);
  bool full(std::uint64_t limit) const;

  std::vector<EventRow> rows_;
  std::vector<std::size_t> offsets_;  // of each row's key in bytes_; its body follows
  std::string bytes_;
};

Result<void> read_events(Readers& readers, KnownThreads& known, ThreadId id, const ReadRange& range,
                         const EventSink& sink);

Result<std::vector<Branch>> load_branches(Database& database, ThreadId id);

}  // namespace skein::sqlite
