// All that a store holds, read once, and what it said about itself meanwhile.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"

namespace skein::crash {

struct ThreadView {
  std::optional<Error> error;           // of the manifest or the events
  std::optional<std::string> manifest;  // as JSON, without its updatedAt; absent: no such thread
  Version version = 0;
  std::map<Seq, std::string> events;  // as JSON with key and tokens; only the readable ones
  std::vector<Seq> unreadable;
  bool in_order = true;
};

struct RecordView {
  std::string bytes;
  Version version = 0;
  friend bool operator==(const RecordView&, const RecordView&) = default;
};

struct Snapshot {
  std::optional<Error> open_error;
  std::map<ThreadId, ThreadView> threads;
  std::map<std::string, RecordView> records;  // by collection/key
  std::vector<std::string> record_errors;
  std::vector<Finding> findings;  // notices and those of check()
  std::optional<Error> check_error;
};

// Opens the store, reads these threads and collections, and has it check itself.
Snapshot take_snapshot(const std::string& url, const std::vector<ThreadId>& threads,
                       const std::vector<std::string>& collections);

// What differs from the truth and is not admitted: wrong data in any case; missing data, and
// manifests and records of an earlier version, where nothing was reported.
std::vector<std::string> silent_differences(const Snapshot& truth, const Snapshot& seen);
// What is wrong with the threads other than the damaged one (absent: with any).
std::vector<std::string> spread(const Snapshot& truth, const Snapshot& seen,
                                std::optional<ThreadId> damaged);

}  // namespace skein::crash
