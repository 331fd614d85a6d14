// The index as a file: one SQLite database that any number of threads and processes share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/file.h"
#include "core/file_lock.h"
#include "core/sqlite.h"
#include "skein/error.h"

namespace skein {

// What happens to the index until it is committed or given up. One at a time, over all processes.
class IndexWriting {
 public:
  ~IndexWriting();
  IndexWriting(IndexWriting&&) noexcept = default;
  IndexWriting& operator=(IndexWriting&&) = delete;

  Database& db() { return *database_; }
  // Counts the commits: what changes with this one carries it.
  std::int64_t generation() const { return generation_; }
  std::int64_t new_message() { return next_message_++; }

  Result<void> commit();

 private:
  friend class IndexFile;
  IndexWriting(std::unique_lock<std::mutex> turn, FileLock lock, Database& database)
      : turn_(std::move(turn)), lock_(std::move(lock)), database_(&database) {}

  std::unique_lock<std::mutex> turn_;
  FileLock lock_;
  Database* database_;
  std::int64_t generation_ = 0;
  std::int64_t next_message_ = 1;
  bool open_ = true;
};

// The index as it is at one moment.
class IndexReading {
 public:
  ~IndexReading();
  IndexReading(IndexReading&& other) noexcept = default;
  IndexReading& operator=(IndexReading&&) = delete;

  Database& db() { return *database_; }
  Result<std::int64_t> generation();

 private:
  friend class IndexFile;
  IndexReading(std::unique_lock<std::mutex> turn, Database& database)
      : turn_(std::move(turn)), database_(&database) {}

  std::unique_lock<std::mutex> turn_;
  Database* database_;
};

class IndexFile {
 public:
  // Empty path: in memory.
  static Result<std::unique_ptr<IndexFile>> open(const std::string& path);

  Result<IndexWriting> write();
  Result<IndexReading> read();
  // Held while vectors are made, which takes long, so that no two make the same.
  struct EmbeddingTurn {
    std::unique_lock<std::mutex> in_process;
    FileLock between_processes;
  };
  Result<EmbeddingTurn> embedding_turn();

  // Empties it.
  Result<void> clear();
  // What writing took, for when there is nothing to do for a while.
  void release_memory();

  const std::string& path() const { return path_; }

 private:
  struct Connection {
    std::mutex turn;
    std::optional<Database> database;
  };
  static constexpr std::uint64_t kWriterByte = 0;
  static constexpr std::uint64_t kEmbeddingByte = 1;

  explicit IndexFile(std::string path) : path_(std::move(path)) {}
  Result<void> open_connections();
  Connection& reader() { return reader_.database ? reader_ : writer_; }

  const std::string path_;
  Fd lock_file_;
  Fd embedding_file_;  // another opening of it: a lock belongs to its opening
  std::mutex embedding_;
  Connection writer_;
  Connection reader_;
  std::atomic<bool> written_ = false;  // since memory was last released
};

// Changes when numbers of names (terms, speakers, agents) may mean others than before.
inline constexpr std::string_view kNamesEpoch = "names_epoch";
// What was loaded before this generation is to be forgotten.
inline constexpr std::string_view kReloadFrom = "reload_from";
// Where in the store's change feed the index is.
inline constexpr std::string_view kCursor = "cursor";

// Counts what makes files of vectors wrong.
inline constexpr std::string_view kRemovals = "removals";

// A value that the index keeps under a name; 0 and empty text if it keeps none.
Result<std::int64_t> index_number(Database& db, std::string_view name);
Result<std::string> index_text(Database& db, std::string_view name);
Result<void> set_index_value(Database& db, std::string_view name, std::int64_t value);
Result<void> set_index_value(Database& db, std::string_view name, std::string_view value);

}  // namespace skein
