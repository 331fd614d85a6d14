#include "recall/index/schema.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/sqlite_schema.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE state (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE agents (agent INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
                     messages INTEGER NOT NULL DEFAULT 0, file_bytes INTEGER) STRICT;
CREATE TABLE speakers (speaker INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE models (model INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE terms (term INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE threads (
  thread INTEGER PRIMARY KEY, agent INTEGER NOT NULL, created INTEGER NOT NULL,
  parent INTEGER, parent_seq INTEGER,
  target INTEGER NOT NULL, covered INTEGER NOT NULL,
  state INTEGER NOT NULL, changed INTEGER NOT NULL) STRICT;
CREATE INDEX threads_behind ON threads (agent) WHERE covered < target OR state = 1;
CREATE INDEX threads_changed ON threads (changed) WHERE changed > 0;
CREATE INDEX threads_by_parent ON threads (parent) WHERE parent IS NOT NULL;
CREATE TABLE messages (
  message INTEGER PRIMARY KEY, agent INTEGER NOT NULL, thread INTEGER NOT NULL,
  seq INTEGER NOT NULL, time INTEGER NOT NULL, words INTEGER NOT NULL, flags INTEGER NOT NULL,
  speaker INTEGER NOT NULL, terms BLOB NOT NULL) STRICT;
CREATE INDEX messages_by_agent ON messages (agent);
CREATE UNIQUE INDEX messages_by_thread ON messages (thread, seq);
CREATE TABLE vectors (
  message INTEGER PRIMARY KEY, model INTEGER NOT NULL, generation INTEGER NOT NULL,
  first BLOB NOT NULL, second BLOB) STRICT;
CREATE INDEX vectors_by_generation ON vectors (generation);
)sql";

// A name of the file's choosing, as SQL.
std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

Result<void> check_tables(Database& db) {
  SqliteSchema schema;
  schema.add(kTables);
  return schema.check(db, OtherTables::kRefused);
}

Result<void> set_format(Database& db) {
  const std::string mark = fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}",
                                       kIndexFormat, kIndexApplication);
  return db.execute(mark.c_str());
}

}  // namespace

Result<void> make_tables_anew(Database& db) {
  std::vector<std::string> names;
  {
    SKEIN_ASSIGN(Query tables, db.query("SELECT name FROM main.sqlite_master WHERE type = 'table' "
                                        "AND name NOT LIKE 'sqlite_%'"));
    for (;;) {
      SKEIN_ASSIGN(const bool row, tables.step());
      if (!row) break;
      names.emplace_back(tables.bytes(0));
    }
  }
  for (const std::string& name : names) {
    SKEIN_TRY(db.execute(("DROP TABLE " + quoted_name(name)).c_str()));
  }
  SKEIN_TRY(db.execute(kTables));
  return set_format(db);
}

Result<void> prepare_index(Database& db) {
  SKEIN_ASSIGN(const auto application, db.integer("PRAGMA application_id"));
  SKEIN_ASSIGN(const auto format, db.integer("PRAGMA user_version"));
  SKEIN_ASSIGN(const auto tables, db.integer("SELECT count(*) FROM main.sqlite_master"));
  if (application != kIndexApplication && (application != 0 || tables != 0)) {
    return fail(ErrorCode::kInvalid, db.path() + ": this is a database of another application");
  }
  if (application == kIndexApplication && format == kIndexFormat) return check_tables(db);
  SKEIN_TRY(db.execute("BEGIN IMMEDIATE"));
  auto made = make_tables_anew(db);
  if (made) made = db.execute("COMMIT");
  if (!made) (void)db.execute("ROLLBACK");
  SKEIN_TRY(std::move(made));
  return check_tables(db);  // what else the file brought is still there
}

}  // namespace skein
