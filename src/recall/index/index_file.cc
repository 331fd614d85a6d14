#include "recall/index/index_file.h"

#include <algorithm>
#include <utility>

#include "core/memory.h"
#include "core/try.h"
#include "recall/index/schema.h"

namespace skein {
namespace {

constexpr int kBusyMs = 60'000;

Result<Database> open_connection(const std::string& path) {
  SKEIN_ASSIGN(Database db, Database::open(path.empty() ? ":memory:" : path, kBusyMs));
  // Everything here can be made again: what a power cut takes is only behind.
  SKEIN_TRY(
      db.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; "
                 "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST; "
                 "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000"));
  return db;
}

// They go on counting from what the file says.
Result<void> check_counters(Database& db) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  for (const char* name : {"generation", "next_message"}) {
    SKEIN_ASSIGN(const std::int64_t number, index_number(db, name));
    if (number >= 0 && number <= kMost) continue;
    return fail(ErrorCode::kDamaged, db.path() + ": its " + name + " is " + std::to_string(number));
  }
  return {};
}

Result<void> remove_files(const std::string& path) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) SKEIN_TRY(remove_file(path + ending));
  return {};
}

}  // namespace

IndexWriting::~IndexWriting() {
  if (turn_.owns_lock() && open_) (void)database_->execute("ROLLBACK");
}

Result<void> IndexWriting::commit() {
  SKEIN_TRY(set_index_value(*database_, "generation", generation_));
  SKEIN_TRY(set_index_value(*database_, "next_message", next_message_));
  SKEIN_TRY(database_->execute("COMMIT"));
  open_ = false;
  return {};
}

IndexReading::~IndexReading() {
  if (turn_.owns_lock()) (void)database_->execute("COMMIT");
}

Result<std::int64_t> IndexReading::generation() { return index_number(*database_, "generation"); }

Result<std::unique_ptr<IndexFile>> IndexFile::open(const std::string& path) {
  std::unique_ptr<IndexFile> file(new IndexFile(path));
  if (path.empty()) {
    SKEIN_TRY(file->open_connections());
    return file;
  }
  SKEIN_ASSIGN(file->lock_file_, open_file(path + ".lock", O_RDWR | O_CREAT));
  SKEIN_ASSIGN(file->embedding_file_, open_file(path + ".lock", O_RDWR));
  // One at a time: no two find the same file damaged.
  SKEIN_ASSIGN(const FileLock alone,
               FileLock::acquire(file->lock_file_.get(), kWriterByte, LockMode::kExclusive));
  auto opened = file->open_connections();
  if (!opened && opened.error().code == ErrorCode::kDamaged) {
    file->writer_.database.reset();
    file->reader_.database.reset();
    SKEIN_TRY(remove_files(path));
    opened = file->open_connections();
  }
  SKEIN_TRY(std::move(opened));
  return file;
}

Result<void> IndexFile::open_connections() {
  SKEIN_ASSIGN(writer_.database, open_connection(path_));
  SKEIN_TRY(prepare_index(*writer_.database));
  SKEIN_TRY(check_counters(*writer_.database));
  if (path_.empty()) return {};
  SKEIN_ASSIGN(reader_.database, open_connection(path_));
  return {};
}

Result<IndexWriting> IndexFile::write() {
  std::unique_lock turn(writer_.turn);
  FileLock lock;
  if (lock_file_.is_open()) {
    SKEIN_ASSIGN(lock, FileLock::acquire(lock_file_.get(), kWriterByte, LockMode::kExclusive));
  }
  written_ = true;
  Database& db = *writer_.database;
  SKEIN_TRY(db.execute("BEGIN IMMEDIATE"));
  IndexWriting writing(std::move(turn), std::move(lock), db);
  // Another program may be of another version, and have emptied it while we had it open.
  SKEIN_ASSIGN(const auto format, db.integer("PRAGMA user_version"));
  if (format != kIndexFormat) {
    return fail(ErrorCode::kConflict,
                path_ + ": another version of Skein has taken the index over");
  }
  SKEIN_ASSIGN(writing.generation_, index_number(db, "generation"));
  ++writing.generation_;
  SKEIN_ASSIGN(const auto next, index_number(db, "next_message"));
  writing.next_message_ = std::max<std::int64_t>(1, next);
  return writing;
}

Result<IndexReading> IndexFile::read() {
  Connection& connection = reader();
  std::unique_lock turn(connection.turn);
  SKEIN_TRY(connection.database->execute("BEGIN"));
  return IndexReading(std::move(turn), *connection.database);
}

Result<IndexFile::EmbeddingTurn> IndexFile::embedding_turn() {
  EmbeddingTurn turn{std::unique_lock(embedding_), {}};
  if (!embedding_file_.is_open()) return turn;
  SKEIN_ASSIGN(turn.between_processes,
               FileLock::acquire(embedding_file_.get(), kEmbeddingByte, LockMode::kExclusive));
  return turn;
}

Result<void> IndexFile::clear() {
  SKEIN_ASSIGN(IndexWriting writing, write());
  SKEIN_TRY(make_tables_anew(writing.db()));
  // Generations and messages go on counting: whoever has seen the old ones notices.
  SKEIN_TRY(set_index_value(writing.db(), kNamesEpoch, writing.generation()));
  SKEIN_TRY(set_index_value(writing.db(), kReloadFrom, writing.generation()));
  return writing.commit();
}

void IndexFile::release_memory() {
  if (!written_.exchange(false)) return;
  for (Connection* connection : {&writer_, &reader_}) {
    const std::lock_guard turn(connection->turn);
    if (connection->database) connection->database->release_memory();
  }
  give_memory_back();
}

Result<std::int64_t> index_number(Database& db, std::string_view name) {
  SKEIN_ASSIGN(Query query, db.query("SELECT value FROM state WHERE name = ?"));
  query.bind(name);
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? query.integer(0) : 0;
}

Result<std::string> index_text(Database& db, std::string_view name) {
  SKEIN_ASSIGN(Query query, db.query("SELECT value FROM state WHERE name = ?"));
  query.bind(name);
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? std::string(query.bytes(0)) : std::string();
}

Result<void> set_index_value(Database& db, std::string_view name, std::int64_t value) {
  SKEIN_ASSIGN(Query query, db.query("INSERT OR REPLACE INTO state VALUES (?, ?)"));
  return query.bind(name, value).run();
}

Result<void> set_index_value(Database& db, std::string_view name, std::string_view value) {
  SKEIN_ASSIGN(Query query, db.query("INSERT OR REPLACE INTO state VALUES (?, ?)"));
  return query.bind(name, value).run();
}

}  // namespace skein
