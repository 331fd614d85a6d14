// The folder of a store: where its files lie, and what all parts that write them share.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/confined_path.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "skein/store.h"

namespace skein::jsonl {

// What a lock is for; offsets below 2^48 are threads.
inline constexpr std::uint64_t kRecordsLock = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kFeedLock = kRecordsLock + 1;
inline constexpr std::uint64_t kNamesLock = kRecordsLock + 2;  // ids and aliases of new threads

// Thread-safe.
class Folder {
 public:
  // Makes the folder and what belongs into it. Links in it are not written through.
  static Result<std::unique_ptr<Folder>> open(const std::string& root, StoreOptions options);

  Clock& clock() const { return *options_.clock; }
  IdSource& ids() const { return *options_.ids; }
  Flusher& flusher() { return flusher_; }
  void notice(const Finding& finding) const;

  const std::string& root() const { return root_; }
  // A file of ours, under .skein/.
  std::string own_path(std::string_view name) const;
  std::string own_path(std::string_view folder, ThreadId id) const;
  // A name under .skein/tmp/ that nobody else uses; it tells the thread, so that leftovers can be
  // recognised.
  std::string temporary_path(ThreadId id);
  std::string threads_folder(std::string_view agent) const;
  std::string thread_path(std::string_view agent, ThreadId id) const;

  // The agents that have a folder, in the order of their names. Anything else there is not ours.
  Result<std::vector<std::string>> agents() const;
  // The threads of one of them, by the names of their files.
  Result<std::vector<ThreadId>> threads(const std::string& agent) const;
  // Makes the agent's folders durable, once.
  Result<void> make_agent(const std::string& agent);

  // Waits for the byte. Threads of this process need a mutex before it.
  Result<FileLock> lock(std::uint64_t offset) const;
  Result<std::optional<FileLock>> try_lock(std::uint64_t offset) const;

 private:
  Folder(std::string root, StoreOptions options);
  Result<void> prepare();
  void remove_leftovers();

  const std::string root_;
  const ConfinedFolder confined_;  // other programs write there, too
  const StoreOptions options_;
  Flusher flusher_;
  Fd lock_file_;

  std::mutex agents_mutex_;
  std::set<std::string> made_agents_;  // by agents_mutex_
};

}  // namespace skein::jsonl
