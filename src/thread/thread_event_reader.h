// Reads the store's change feed as thread events.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "skein/store.h"
#include "skein/thread_events.h"

namespace skein {

// Some events, and every place in the feed that reading them passed.
struct ThreadEventBatch {
  struct Place {
    std::string cursor;
    std::size_t events = 0;  // of this batch, that come before it
  };

  std::vector<ThreadEvent> events;
  std::vector<Place> places;
  std::string begin;  // cursors
  std::string end;
  std::size_t bytes = 0;  // about as much as the events hold in memory
};

// One reader, one place in the feed. Not thread-safe. Borrows the store, which it writes to only
// where a closing was not announced yet.
class ThreadEventReader {
 public:
  ThreadEventReader(Store& store, std::string cursor) : store_(store), cursor_(std::move(cursor)) {}

  // What comes next, waiting up to `wait` for something; the events may be none though the place
  // moved. An error leaves the place where it was.
  Result<ThreadEventBatch> next(std::chrono::milliseconds wait);

  const std::string& cursor() const { return cursor_; }

 private:
  // What was told of a thread, to leave out what a feed repeats.
  struct Told {
    bool created = false;
    Seq last_seq = 0;
    std::string agent_id;
  };

  // Both take from the front of the changes and answer how many.
  Result<std::size_t> tell(const std::vector<Change>& changes, std::size_t at,
                           ThreadEventBatch& batch);
  Result<std::size_t> tell_messages(const std::vector<Change>& changes, std::size_t at,
                                    ThreadEventBatch& batch);
  Result<void> tell_manifest(ThreadEventKind kind, ThreadId thread, const std::string& cursor,
                             ThreadEventBatch& batch);
  Result<void> tell_deletion(ThreadId thread, const std::string& cursor, ThreadEventBatch& batch);
  Result<const std::string*> agent_of(ThreadId thread);  // null: there is no such thread
  Told& told(ThreadId thread);

  Store& store_;
  std::string cursor_;
  std::unordered_map<ThreadId, Told> told_;
};

}  // namespace skein
