#include "store/sqlite/schema.h"

#include "core/try.h"

namespace skein::sqlite {
namespace {

// Every number `g` is taken from one sequence over events and changes, in the order of commits: it
// is an event's place in the change feed, and the version of a manifest or record. It never goes
// backwards, because whatever deletes rows adds a change with a later g in the same transaction.
//
// The head of a thread (last seq, time of its last update, where it is listed) is the last entry of
// events_by_thread, on the page that an append writes anyway. `updated` is the thread's updated_at
// after the event, and `lag` how far its entry in `listed` is behind that. Until the first event,
// and after a change of the manifest (version > g of the last event), threads.updated and
// threads.listed say it.
constexpr const char* kInitial = R"sql(
CREATE TABLE agents(
  agent INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE threads(
  id INTEGER PRIMARY KEY,
  agent INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  status INTEGER NOT NULL,
  made INTEGER NOT NULL,
  version INTEGER NOT NULL,
  alias TEXT
) STRICT;
CREATE UNIQUE INDEX threads_by_alias ON threads(alias) WHERE alias IS NOT NULL;
CREATE INDEX threads_by_created ON threads(agent, created);

CREATE TABLE manifests(
  id INTEGER PRIMARY KEY,
  crc INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE listed(
  agent INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY(agent, updated, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_meta(
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY(key, value, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events(
  g INTEGER PRIMARY KEY,
  id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  lag INTEGER NOT NULL,
  tokens INTEGER,
  key_hash INTEGER,
  key TEXT,
  crc INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_thread ON events(id, seq, updated, lag);
CREATE INDEX events_by_key ON events(id, key_hash) WHERE key_hash IS NOT NULL;

CREATE TABLE branches(
  id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  base INTEGER NOT NULL,
  PRIMARY KEY(id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases(
  id INTEGER PRIMARY KEY,
  token INTEGER NOT NULL,
  holder TEXT NOT NULL,
  expires_boot_ms INTEGER NOT NULL,
  boot TEXT NOT NULL
) STRICT;

CREATE TABLE records(
  record INTEGER PRIMARY KEY,
  collection TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE(collection, key)
) STRICT;

CREATE TABLE changes(
  g INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  thread INTEGER,
  collection TEXT,
  key TEXT,
  crc INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX deleted_records ON changes(collection, key) WHERE kind = 5;
)sql";

// `behind`: whether the thread may have been updated later than its entry says. Then its head has
// to be asked; otherwise the list answers by itself.
constexpr char kListedBehind[] = "ALTER TABLE listed ADD COLUMN behind INTEGER NOT NULL DEFAULT 1";
constexpr char kListedAltered[] = R"sql(
CREATE TABLE listed(
  agent INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  id INTEGER NOT NULL, behind INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY(agent, updated, id)
) STRICT, WITHOUT ROWID;
)sql";

// How many threads there are, so that nobody has to count them.
constexpr char kTotals[] = R"sql(
CREATE TABLE totals(
  agent INTEGER NOT NULL,
  status INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  PRIMARY KEY(agent, status)
) STRICT, WITHOUT ROWID;
INSERT INTO totals(agent, status, threads)
  SELECT agent, status, count(*) FROM threads GROUP BY agent, status;
)sql";

constexpr Migration kMigrations[] = {
    {1, kInitial}, {2, kListedBehind, kListedAltered}, {3, kTotals}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Result<Database> connect(const std::string& path, int cache_kb, Flush flush, const char* vfs) {
  constexpr int kBusyMs = 10'000;
  SKEIN_ASSIGN(Database database, Database::open(path, kBusyMs, vfs));
  // Damaged files must not make SQLite follow what they say any further than needed.
  const std::string setup =
      "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
      "PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
      "PRAGMA cache_size = -" +
      std::to_string(cache_kb) + ";" +
      (flush == Flush::kFull ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF");
  SKEIN_TRY(database.execute(setup.c_str()));
  database.keep_log_on_close(true);
  return database;
}

Result<void> prepare_file(Database& database) {
  SKEIN_TRY(database.migrate(migrations(), kApplicationId));
  return database.execute("PRAGMA journal_mode = WAL");
}

}  // namespace skein::sqlite
