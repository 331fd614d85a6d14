// The records of all collections: a journal, .skein/records.jsonl, of which each line is one batch
// of writes; and usage.jsonl for the usage collection, which follows the journal.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "skein/store.h"
#include "store/jsonl/folder.h"
#include "store/jsonl/followed_file.h"
#include "store/jsonl/stored_bytes.h"
#include "store/jsonl/usage_file.h"

namespace skein::jsonl {

// What happened to a record.
struct RecordChange {
  std::string collection;
  std::string key;
  Version version = 0;
  bool deleted = false;
};

// Thread-safe. Only keys and places are kept in memory, not the records' bytes.
class Records {
 public:
  explicit Records(Folder& folder);

  // Puts into usage.jsonl what a process that died could not.
  Result<void> start();

  // All or nothing. `allowed` is asked about each write before its version is looked at;
  // `published` gets what changed, in order, before another writer gets its turn.
  using Allow = std::function<Result<void>(const RecordWrite&)>;
  using Publish = std::function<void(const std::vector<RecordChange>&)>;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes, const Allow& allowed,
                                     const Publish& published);
  Result<std::vector<Record>> scan(const ScanRange& range);

  // Remembers that the thread was removed, durably, and the last version of its manifest.
  Result<void> bury(ThreadId id, Version version);
  Result<std::map<ThreadId, Version>> buried();
  // That version; 0, if no such thread was ever removed.
  Result<Version> buried_version(ThreadId id);

  // The last change of each record that came after a version, in order; `locked` keeps writers away
  // while it gets them.
  Result<void> changes_after(Version version,
                             const std::function<void(const std::vector<RecordChange>&)>& locked);
  Result<Version> last_version();

  // Reads everything. With `repair`, takes a torn rest away.
  Result<std::uint64_t> check(bool repair, const std::function<void(const Finding&)>& sink);

 private:
  Result<void> follow();  // journal and usage file; under state_mutex_
  void restart();
  void take_line(std::uint64_t offset, std::string_view text);
  void take_record(std::uint64_t offset, std::string_view line, std::string_view name,
                   RawJson value);
  const Slot* find(const std::string& collection, const std::string& key) const;
  Result<void> check_expected(const RecordWrite& write) const;
  Result<void> mend();
  bool usage_behind() const;
  Result<void> complete_usage();
  Result<void> append_line(std::string line);
  Result<void> compact_if_worthwhile();
  std::vector<RecordChange> changes_since(Version version) const;

  Folder& folder_;

  std::mutex write_mutex_;  // before the lock of the records; taken before state_mutex_

  std::mutex state_mutex_;  // protects all below
  FollowedFile journal_;
  UsageFile usage_;
  std::map<std::string, std::map<std::string, Slot>> collections_;
  std::map<ThreadId, Version> buried_;
  Version last_version_ = 1;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t damaged_lines_ = 0;
  std::map<std::string, Slot> unapplied_usage_;  // of the last line; may be in usage.jsonl already
};

}  // namespace skein::jsonl
