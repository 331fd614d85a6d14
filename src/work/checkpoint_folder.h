// The files of a workspace's checkpoints.
#pragma once

#include <string>
#include <vector>

#include "core/file.h"
#include "core/file_lock.h"
#include "skein/checkpoints.h"

namespace skein {

// Reads what stands in WORKSPACE/workspace/checkpoints/: {"task_id", "created_at", "summary",
// "files_touched", "recent_commits", "commit", "next_steps", …}, or already the newer form. `id` is
// the name of the file, `written` when it was written, for files that do not say it.
Result<Checkpoint> parse_older_checkpoint(std::string_view json, const std::string& id,
                                          Timestamp written);

// Files that HQ keeps among its checkpoints: "handoff.json", "….changeset.json".
bool is_of_another_kind(std::string_view name);

// The folders "2026-01" of `threads`/archive, sorted; links are none.
Result<std::vector<std::string>> archived_months(const std::string& threads);

class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string workspace) : workspace_(std::move(workspace)) {}

  struct File {
    std::string id;  // its name without ".json"
    bool older = false;
    FileStamp stamp;
    std::string archive = {};  // the month, "2026-01", of an archived one
  };

  std::string threads() const { return workspace_ + "/workspace/threads"; }
  std::string older() const { return workspace_ + "/workspace/checkpoints"; }
  // For what is derived, and for records.
  std::string beside(std::string_view name) const {
    return workspace_ + "/.skein/" + std::string(name);
  }

  // kIo: links on the way keep anything from being written to the checkpoints.
  Result<void> check_writable() const;

  // Everything that may be a checkpoint, in the archive too: regular files, neither links nor
  // hidden, nor of another kind.
  Result<std::vector<File>> files() const;

  // kNotFound; kDamaged when it is no checkpoint.
  Result<Checkpoint> load(const File& file) const;

  // False: the id is taken.
  Result<bool> create(const Checkpoint& checkpoint);
  Result<void> replace(const Checkpoint& checkpoint);
  Result<void> remove(const std::string& id);

  // Keeps other processes from rebuilding the lists, updating or purging meanwhile.
  class Lock {
   public:
    Lock(Fd fd, FileLock lock) : fd_(std::move(fd)), lock_(std::move(lock)) {}

   private:
    Fd fd_;
    FileLock lock_;
  };
  Result<Lock> lock();

  // Makes WORKSPACE/.skein/ when it is not there.
  Result<void> prepare_beside();
  Flusher& flusher() { return flusher_; }

 private:
  std::string path_of(const std::string& id) const;
  std::string path_of(const File& file) const;

  const std::string workspace_;
  Flusher flusher_;
};

}  // namespace skein
