// Keeps the words of messages in the index: what the store has, and nothing else.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "recall/index/index_file.h"
#include "recall/index/names.h"
#include "recall/index/thread_rows.h"
#include "recall/text/analyzer.h"
#include "skein/store.h"

namespace skein {

struct IndexCounts {
  std::uint64_t added = 0;              // messages
  std::uint64_t removed = 0;            // messages
  std::uint64_t events = 0;             // looked at
  std::uint64_t changes = 0;            // told by the feed
  std::unordered_set<ThreadId> gone{};  // threads that were in the index and were removed
};

// First it is written down which threads have something new (from the feed, together with the
// cursor; or from a look at all threads), then these are indexed, a batch at a time. Either can be
// interrupted anywhere. Thread-safe; what is not is used while writing, which is one at a time.
class Indexer {
 public:
  Indexer(Store& store, IndexFile& file) : store_(store), file_(file) {}

  // Writes down what the feed tells since its cursor; without a cursor, looks at all threads.
  // Waits up to `wait` if there is nothing.
  Result<void> follow_feed(std::chrono::milliseconds wait, IndexCounts& counts);
  // Compares with all threads of an agent, or of all: what the feed did not tell, this finds.
  Result<void> look_through(const std::optional<std::string>& agent, IndexCounts& counts,
                            std::stop_token stop);
  // Indexes one batch. False: there was nothing left to do.
  Result<bool> index_some(const std::optional<std::string>& agent, IndexCounts& counts);
  // The same for one thread, whether or not it was noted.
  Result<bool> index_thread(ThreadId thread, IndexCounts& counts);
  // Removes the entries of those of these threads that the store no longer has.
  Result<void> forget_threads(const std::vector<ThreadId>& threads, IndexCounts& counts);

 private:
  Result<void> index_batch(IndexWriting& writing, const std::vector<ThreadId>& threads,
                           IndexCounts& counts);
  Result<bool> note_changes(IndexWriting& writing, const std::vector<Change>& changes,
                            IndexCounts& counts);
  Result<bool> note_thread(IndexWriting& writing, const Manifest& manifest, IndexCounts& counts);
  Result<bool> note_removal(IndexWriting& writing, ThreadId thread, IndexCounts& counts);
  Result<bool> note_append(IndexWriting& writing, ThreadId thread, Seq seq, IndexCounts& counts);
  Result<void> remove_unseen(const std::optional<std::string>& agent,
                             const std::unordered_map<std::uint64_t, bool>& seen,
                             IndexCounts& counts);

  Result<void> commit(IndexWriting& writing);

  Store& store_;
  IndexFile& file_;

  // While writing:
  Names names_;
  Analyzer analyzer_;
};

}  // namespace skein
