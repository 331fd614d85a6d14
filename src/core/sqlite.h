// SQLite without its rough edges: connections and statements that clean up after themselves, errors
// as values, and migrations.
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/sqlite_budget.h"
#include "skein/error.h"

namespace skein {

// Of the library that this program runs with.
inline const char* sqlite_version() { return sqlite3_libversion(); }

// Sets it up for the whole program, once; whatever uses SQLite first has to call it before. Where
// somebody else was first, it stays as it is.
void configure_sqlite();

// One execution of a prepared statement; ends (resets it) when it is destroyed. Text and blobs are
// borrowed, not copied: what was bound must live until then, and what a column gives is good until
// the next step.
class Query {
 public:
  ~Query() { end(); }
  Query(Query&& other) noexcept : statement_(other.statement_), budget_(other.budget_) {
    other.statement_ = nullptr;
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  Query& operator=(Query&&) = delete;

  // Binds parameters 1, 2, 3 … Empty optionals are NULL.
  template <class... Values>
  Query& bind(const Values&... values) {
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  Query& bind_blob(int index, std::string_view bytes);

  // True: there is a row. False: done.
  Result<bool> step();
  // Steps to the end, for statements without rows of interest.
  Result<void> run();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string_view bytes(int column) const;  // text or blob

 private:
  friend class Database;
  Query(sqlite3_stmt* statement, QueryBudget& budget) : statement_(statement), budget_(&budget) {
    budget_->enter();
  }

  void end() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    budget_->leave();
  }
  template <std::integral T>
  void bind_one(int index, T value) {
    sqlite3_bind_int64(statement_, index, static_cast<std::int64_t>(value));
  }
  void bind_one(int index, std::string_view text);
  void bind_one(int index, std::nullopt_t) { sqlite3_bind_null(statement_, index); }
  template <class T>
  void bind_one(int index, const std::optional<T>& value) {
    if (value)
      bind_one(index, *value);
    else
      bind_one(index, std::nullopt);
  }

  sqlite3_stmt* statement_;
  QueryBudget* budget_;
};

// A step of the schema. Once released it is never edited; what changes is a further one.
struct Migration {
  int version = 0;  // 1, 2, 3 …
  const char* sql = "";
  const char* altered = "";  // what it alters, as SQLite then says it was created
};

// A connection. One thread at a time.
//
// Codes: kDamaged for what is not a database or is corrupt, also if that shows by a query that does
// not come to an end; kIo for everything else that SQLite
// refuses; last_code() says more.
class Database {
 public:
  // Makes the file when it is not there, for this user alone. Below a confined folder
  // (core/confined_path.h), neither it nor the files that SQLite has beside it may be links. Waits
  // up to `busy_ms` for locks that others hold. `vfs` is the name of SQLite's layer over the files;
  // null: its default.
  static Result<Database> open(const std::string& path, int busy_ms, const char* vfs = nullptr);

  // Runs statements that give no rows of interest.
  Result<void> execute(const char* sql);
  // The first column of the first row, such as a pragma gives.
  Result<std::int64_t> integer(const char* sql);

  // Prepared on its first use and kept. `sql` is a constant: it is known by its address.
  Result<Query> query(const char* sql);

  // Runs what the file has not seen yet, in one transaction, and remembers it in user_version.
  // kInvalid when the file belongs to another application or to a later version of this one;
  // kDamaged when its tables are not those that the migrations made.
  Result<void> migrate(std::span<const Migration> migrations, std::int32_t application_id);

  // The last connection to close moves the write-ahead log into the file and removes it; or, if it
  // keeps the log, leaves that to whoever opens the file next.
  void keep_log_on_close(bool keep);

  // Extended result code of the last failure on this connection.
  int last_code() const { return sqlite3_extended_errcode(handle_.get()); }
  // Gives back what it keeps of the file in memory.
  void release_memory() { ::sqlite3_db_release_memory(handle_.get()); }

  sqlite3* handle() const { return handle_.get(); }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  explicit Database(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unique_ptr<QueryBudget> budget_;  // outlives the connection
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// What SQLite says of the last failure on this connection.
Error sqlite_error(sqlite3* handle, std::string_view doing);

}  // namespace skein
