// What the index knows of each thread.
#pragma once

#include <optional>
#include <vector>

#include "recall/index/index_file.h"
#include "skein/thread.h"

namespace skein {

enum class ThreadState : std::int64_t {
  kFollowed = 0,  // messages up to `covered` are in the index
  kAnew = 1,      // its path, or its parent's, is another: to be compared from the start
  kGone = 2,      // removed; kept a while, so that caches notice
};

struct ThreadRow {
  ThreadId thread;
  std::int64_t agent = 0;
  Timestamp created;
  std::optional<Parent> parent;
  Seq target = 0;   // events that there are
  Seq covered = 0;  // of these, looked at
  ThreadState state = ThreadState::kFollowed;
  std::int64_t changed = 0;  // generation in which messages were removed from it

  bool is_behind() const { return state == ThreadState::kAnew || covered < target; }
};

Result<std::optional<ThreadRow>> find_thread_row(Database& db, ThreadId thread);
Result<void> put_thread_row(Database& db, const ThreadRow& row);

// Threads with something to do, of one agent or of all.
Result<std::vector<ThreadId>> threads_behind(Database& db, std::optional<std::int64_t> agent,
                                             std::size_t limit);
Result<std::uint64_t> events_behind(Database& db, std::optional<std::int64_t> agent);

// Threads that started as forks of this one are to be compared again.
Result<void> mark_forks(Database& db, ThreadId parent);

// Removes messages with their vectors; answers how many there were.
Result<std::uint64_t> remove_messages(IndexWriting& writing, ThreadRow& row);
Result<void> remove_message(IndexWriting& writing, ThreadRow& row, std::int64_t message);

// The agent's file of vectors no longer says what the index does.
Result<void> distrust_vectors_file(Database& db, std::int64_t agent);

Result<void> count_messages(Database& db, std::int64_t agent, std::int64_t more);

}  // namespace skein
