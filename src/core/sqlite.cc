#include "core/sqlite.h"

#include <sys/stat.h>

#include <utility>

#include "core/confined_path.h"
#include "core/file.h"
#include "core/sqlite_page_cache.h"
#include "core/sqlite_schema.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {

void configure_sqlite() {
  [[maybe_unused]] static const bool configured = [] {
    // It would count the bytes that it has allocated, under one lock for all connections.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    spare_page_cache();
    return true;
  }();
}

Error sqlite_error(sqlite3* handle, std::string_view doing) {
  const int extended = sqlite3_extended_errcode(handle);
  const int code = extended & 0xff;
  if (code == SQLITE_INTERRUPT) {
    return {ErrorCode::kDamaged,
            std::string(doing) +
                ": a query took more steps than a file of this size can need, so its pages are "
                "damaged"};
  }
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  std::string message(doing);
  message += ": ";
  message += sqlite3_errmsg(handle);
  if (extended != code) message += " (" + std::to_string(extended) + ")";
  return {damaged ? ErrorCode::kDamaged : ErrorCode::kIo, std::move(message)};
}

void Query::bind_one(int index, std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

Query& Query::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_, index, bytes.empty() ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
  return *this;
}

Result<bool> Query::step() {
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default: {
      sqlite3* handle = sqlite3_db_handle(statement_);
      return tl::unexpected(
          sqlite_error(handle, handle ? sqlite3_db_filename(handle, "main") : ""));
    }
  }
}

Result<void> Query::run() {
  for (;;) {
    SKEIN_ASSIGN(const bool row, step());
    if (!row) return {};
  }
}

std::string_view Query::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {data, data ? static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)) : 0};
}

namespace {

// A rollback journal can name a super-journal, which SQLite deletes after it has played the journal
// back, wherever that file is. Only transactions over several attached databases have one, and
// Skein attaches none: such a journal was made to delete a file of its reader.
Result<void> refuse_super_journal(const std::string& path) {
  constexpr std::string_view kMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const auto fd = open_file(path, O_RDONLY);
  if (!fd) {
    if (fd.error().code == ErrorCode::kNotFound) return {};
    return tl::unexpected(fd.error());
  }
  SKEIN_ASSIGN(const FileStamp stamp, stat_open(*fd, path));
  if (stamp.size < kMagic.size()) return {};
  std::string end(kMagic.size(), '\0');
  SKEIN_ASSIGN(const std::size_t got,
               read_at(*fd, path, stamp.size - kMagic.size(), end.data(), end.size()));
  if (got != kMagic.size() || end != kMagic) return {};
  return fail(ErrorCode::kDamaged,
              path +
                  ": names a super-journal, which SQLite would delete; Skein writes none. Do not "
                  "open this database with other programs, and remove the journal");
}

// SQLite would wait at a pipe for somebody who writes to it.
Result<void> refuse_other_than_files(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0 || S_ISREG(st.st_mode)) return {};
  return fail(ErrorCode::kIo, path + ": must be a regular file; move it away");
}

// SQLite makes its files as the umask allows and goes through links. So the database is made for
// it, private; the files beside it get the mode of the database.
Result<void> prepare_database_file(const std::string& path) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    SKEIN_TRY(check_no_links(path + ending));
    SKEIN_TRY(refuse_other_than_files(path + ending));
  }
  SKEIN_TRY(refuse_super_journal(path + "-journal"));
  return make_empty_file(path);
}

// Nothing in the file runs as code: Skein's schemas have no triggers and no views. No row is larger
// than the largest record with room to spare, and Skein attaches no other files.
void disable_active_content(sqlite3* handle) {
  constexpr int kLongestRow = 64 << 20;
  static_assert(kLongestRow >= 2 * limits::kMaxRecordBytes);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestRow);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);  // by VACUUM
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

}  // namespace

Result<Database> Database::open(const std::string& path, int busy_ms, const char* vfs) {
  configure_sqlite();
  if (path != ":memory:") SKEIN_TRY(prepare_database_file(path));
  Database database(path);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, vfs);
  database.handle_.reset(handle);
  if (handle == nullptr) return fail(ErrorCode::kIo, path + ": out of memory");
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(handle, path));
  if (sqlite3_db_readonly(handle, "main") == 1)
    return fail(ErrorCode::kIo, path + ": the file is read-only");
  disable_active_content(handle);
  database.budget_ = std::make_unique<QueryBudget>(path);
  if (path != ":memory:") database.budget_->limit(handle);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, busy_ms);
  return database;
}

Result<void> Database::execute(const char* sql) {
  budget_->enter();
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  budget_->leave();
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(handle_.get(), path_));
  return {};
}

Result<std::int64_t> Database::integer(const char* sql) {
  SKEIN_ASSIGN(Query query, this->query(sql));
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? query.integer(0) : 0;
}

Result<Query> Database::query(const char* sql) {
  auto& statement = statements_[sql];
  if (!statement) {
    sqlite3_stmt* prepared = nullptr;
    budget_->enter();
    const int code =
        sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    budget_->leave();
    if (code != SQLITE_OK) return tl::unexpected(sqlite_error(handle_.get(), path_));
    statement.reset(prepared);
  }
  return Query(statement.get(), *budget_);
}

void Database::keep_log_on_close(bool keep) {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

namespace {

Result<void> refuse_foreign(Database& database, std::int32_t application_id, int newest) {
  SKEIN_ASSIGN(const auto application, database.integer("PRAGMA application_id"));
  SKEIN_ASSIGN(const auto version, database.integer("PRAGMA user_version"));
  SKEIN_ASSIGN(const auto tables, database.integer("SELECT count(*) FROM main.sqlite_master"));
  const bool empty = application == 0 && version == 0 && tables == 0;
  if (!empty && application != application_id)
    return fail(ErrorCode::kInvalid,
                database.path() + ": this is a database of another application");
  if (version > newest)
    return fail(ErrorCode::kInvalid, database.path() + ": written by a later version (schema " +
                                         std::to_string(version) + ", this program knows " +
                                         std::to_string(newest) + ")");
  return {};
}

Result<void> check_migrated(Database& database, std::span<const Migration> migrations,
                            std::int64_t version) {
  SqliteSchema schema;
  for (const Migration& migration : migrations) {
    if (migration.version > version) break;
    schema.add(migration.sql);
    schema.add(migration.altered);
  }
  return schema.check(database, OtherTables::kAllowed);
}

Result<void> run_missing(Database& database, std::span<const Migration> migrations,
                         std::int32_t application_id) {
  SKEIN_ASSIGN(const auto version, database.integer("PRAGMA user_version"));
  for (const Migration& migration : migrations) {
    if (migration.version <= version) continue;
    SKEIN_TRY(database.execute(migration.sql));
    const std::string mark = "PRAGMA user_version = " + std::to_string(migration.version) +
                             "; PRAGMA application_id = " + std::to_string(application_id);
    SKEIN_TRY(database.execute(mark.c_str()));
  }
  return database.execute("COMMIT");
}

}  // namespace

Result<void> Database::migrate(std::span<const Migration> migrations, std::int32_t application_id) {
  const int newest = migrations.back().version;
  SKEIN_TRY(refuse_foreign(*this, application_id, newest));
  SKEIN_ASSIGN(const auto version, integer("PRAGMA user_version"));
  SKEIN_TRY(check_migrated(*this, migrations, version));
  if (version == newest) return {};
  SKEIN_TRY(execute("BEGIN IMMEDIATE"));
  auto done = run_missing(*this, migrations, application_id);
  if (!done && sqlite3_get_autocommit(handle_.get()) == 0) {
    const auto rolled_back = execute("ROLLBACK");
    static_cast<void>(rolled_back);  // the first error is the one that tells
  }
  return done;
}

}  // namespace skein
