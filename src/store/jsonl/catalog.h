// Which threads there are: where their files lie, and their manifests as last read.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "skein/store.h"
#include "store/jsonl/folder.h"
#include "store/jsonl/head.h"
#include "store/jsonl/tail.h"

namespace skein::jsonl {

// Opens a thread's file. Nothing, if there is no regular file of that name.
Result<std::optional<ThreadFile>> open_thread(const std::string& path, int flags);

// One thread as its file says.
struct CatalogEntry {
  std::string agent;
  FileStamp stamp;
  Manifest manifest;    // with last_seq, and updated_at as the events say
  std::string problem;  // not empty: the manifest cannot be read
};

// Thread-safe. Reads a file again only when its inode, size or time changed.
class Catalog {
 public:
  // `recover` mends line 1 under the thread's lock, as far as that can be done.
  Catalog(Folder& folder, std::function<Result<void>(ThreadId)> recover)
      : folder_(folder), recover_(std::move(recover)) {}

  // The agent whose folder has the thread's file; with several, the first by name.
  Result<std::optional<std::string>> locate(ThreadId id);
  Result<std::optional<CatalogEntry>> find(ThreadId id);
  Result<std::optional<ThreadId>> find_alias(const std::string& alias);
  // Visits every thread, or those of one agent, once. Ids that have a second file are told to
  // `duplicate`, with the agent of that file.
  Result<void> each(const std::optional<std::string>& agent,
                    const std::function<void(const CatalogEntry&)>& visit,
                    const std::function<void(ThreadId, const std::string&)>& duplicate = {});

  // After the file was changed in a way that its size does not tell.
  void forget(ThreadId id);

 private:
  struct Known {
    CatalogEntry entry;
    bool settled = false;  // its time was past when it was read: a later change shows
  };

  Result<std::optional<CatalogEntry>> entry(const std::string& agent, ThreadId id);
  Result<std::optional<CatalogEntry>> load(const std::string& agent, ThreadId id);
  void report(const CatalogEntry& entry, const Tail& tail) const;

  Folder& folder_;
  const std::function<Result<void>(ThreadId)> recover_;

  std::mutex mutex_;  // protects all below
  std::unordered_map<ThreadId, Known> known_;
  std::unordered_map<std::string, ThreadId> aliases_;
};

}  // namespace skein::jsonl
