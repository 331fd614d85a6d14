#include "store/postgres/schema.h"

#include "core/checksum.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::postgres {
namespace {

// Every number `g` comes from the sequence `feed`: it is a place in the change feed, and the
// version of a manifest or record. A transaction takes its numbers after it has locked all that it
// is about to change, so that those of one thread or record rise in the order of its changes.
//
// The row of a thread is its head, too: whoever appends locks it, and no index has what an append
// changes in it, so that PostgreSQL puts the new version beside the old one. `listed` is the
// exception: it follows `updated`, but only when it has fallen back by more than a bound.
constexpr const char* kInitial = R"sql(
CREATE SEQUENCE skein.feed;
PERFORM setval('skein.feed', 1);

CREATE TABLE skein.threads(
  id bigint PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  created bigint NOT NULL,
  status bigint NOT NULL,
  made bigint NOT NULL,
  version bigint NOT NULL,
  last_seq bigint NOT NULL,
  updated bigint NOT NULL,
  listed bigint NOT NULL,
  token bigint NOT NULL DEFAULT 0,
  holder text COLLATE "C" NOT NULL DEFAULT '',
  expires bigint NOT NULL DEFAULT 0,
  boot text COLLATE "C" NOT NULL DEFAULT ''
) WITH (fillfactor = 70);
CREATE INDEX threads_by_agent_listed ON skein.threads(agent, listed);
CREATE INDEX threads_by_listed ON skein.threads(listed);
CREATE INDEX threads_by_agent_created ON skein.threads(agent, created);
CREATE INDEX threads_by_created ON skein.threads(created);

CREATE TABLE skein.manifests(
  id bigint PRIMARY KEY,
  crc bigint NOT NULL,
  body text COLLATE "C" NOT NULL
);

CREATE TABLE skein.aliases(
  alias text COLLATE "C" PRIMARY KEY,
  id bigint NOT NULL
);

CREATE TABLE skein.thread_meta(
  id bigint NOT NULL,
  hash bigint NOT NULL,
  key bytea NOT NULL,
  value bytea NOT NULL
);
CREATE INDEX thread_meta_by_hash ON skein.thread_meta(hash, id);
CREATE INDEX thread_meta_by_thread ON skein.thread_meta(id);

CREATE TABLE skein.events(
  id bigint NOT NULL,
  seq bigint NOT NULL,
  g bigint NOT NULL,
  ts bigint NOT NULL,
  tokens bigint,
  key text COLLATE "C",
  crc bigint NOT NULL,
  body text COLLATE "C" NOT NULL,
  PRIMARY KEY(id, seq)
);
CREATE INDEX events_by_g ON skein.events(g);
CREATE UNIQUE INDEX events_by_key ON skein.events(id, key) WHERE key IS NOT NULL;

CREATE TABLE skein.branches(
  id bigint NOT NULL,
  seq bigint NOT NULL,
  base bigint NOT NULL,
  PRIMARY KEY(id, seq)
);

CREATE TABLE skein.records(
  collection text COLLATE "C" NOT NULL,
  key bytea NOT NULL,
  version bigint NOT NULL,
  crc bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY(collection, key)
);

CREATE TABLE skein.changes(
  g bigint PRIMARY KEY,
  kind bigint NOT NULL,
  thread bigint NOT NULL,
  collection text COLLATE "C" NOT NULL,
  key bytea NOT NULL,
  crc bigint NOT NULL
);
CREATE UNIQUE INDEX deleted_records ON skein.changes(collection, key) WHERE kind = 5;
)sql";

// By its mark a transaction knows its own events again. The bound of `listed` became smaller.
constexpr const char* kMarks = R"sql(
ALTER TABLE skein.events ADD COLUMN mark bigint;
UPDATE skein.threads SET listed = updated WHERE listed <> updated;
)sql";

struct Migration {
  int version;
  const char* sql;
};
// Ordered; a released one is never edited.
constexpr Migration kMigrations[] = {{1, kInitial}, {2, kMarks}};
constexpr int kLatest = 2;

constexpr int kOldestServer = 150000;

constexpr char kHasTable[] = "SELECT (to_regclass('skein.migrations') IS NOT NULL)::int::bigint";
constexpr char kVersion[] = "SELECT coalesce(max(version), 0) FROM skein.migrations";

// 0: there are no tables.
Result<int> schema_version(Connection& connection, Deadline deadline) {
  SKEIN_ASSIGN(const Answer table, connection.ask(kHasTable, {}, deadline));
  if (table.integer(0, 0) == 0) return 0;
  const auto version = connection.ask(kVersion, {}, deadline);
  if (version) return static_cast<int>(version->integer(0, 0));
  constexpr std::string_view kNoSuchColumn = "42703";
  if (connection.failure().state != kNoSuchColumn) return tl::unexpected(version.error());
  return fail(ErrorCode::kInvalid,
              "table " + quote(connection.with_schema("skein.migrations")) +
                  " was not made by Skein: it has no column \"version\"; skein_schema=NAME in the "
                  "URL names another schema");
}

Result<void> check_server(Connection& connection) {
  if (connection.server_version() < kOldestServer)
    return fail(ErrorCode::kInvalid,
                "PostgreSQL must be 15 or later, got " + connection.parameter("server_version"));
  if (connection.parameter("server_encoding") == "UTF8") return {};
  return fail(ErrorCode::kInvalid, "the database's encoding must be UTF8, got " +
                                       quote(connection.parameter("server_encoding")));
}

}  // namespace

std::int64_t feed_lock_class(const Settings& settings) {
  return checksum("skein feed " + settings.schema) & 0x7fffffff;
}

std::int64_t listener_lock_class(const Settings& settings) {
  return checksum("skein listeners " + settings.schema) & 0x7fffffff;
}

std::string feed_channel(const Settings& settings) { return "skein_feed_" + settings.schema; }

Result<void> prepare_schema(Connection& connection, const Settings& settings, Deadline deadline) {
  SKEIN_TRY(check_server(connection));
  SKEIN_ASSIGN(const int found, schema_version(connection, deadline));
  if (found > kLatest)
    return fail(ErrorCode::kInvalid, "the tables were made by a later version of Skein: version " +
                                         std::to_string(found) + ", this one knows " +
                                         std::to_string(kLatest));
  if (found == kLatest) return {};
  // One transaction, of which others wait for the end; each migration asks again whether it is due.
  const std::string lock = std::to_string(feed_lock_class(settings));
  std::string sql = "BEGIN; SELECT pg_advisory_xact_lock(" + lock +
                    ", -1);"
                    "CREATE SCHEMA IF NOT EXISTS " +
                    settings.schema +
                    ";"
                    "CREATE TABLE IF NOT EXISTS skein.migrations("
                    "version bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now());";
  for (const Migration& migration : kMigrations) {
    const std::string version = std::to_string(migration.version);
    sql += "DO $migrate$ BEGIN IF NOT EXISTS (SELECT FROM skein.migrations WHERE version = " +
           version + ") THEN " + migration.sql + "INSERT INTO skein.migrations(version) VALUES(" +
           version + "); END IF; END $migrate$;";
  }
  sql += "COMMIT";
  auto migrated = connection.execute(sql, deadline);
  if (!migrated && connection.usable() && connection.in_transaction())
    SKEIN_TRY(connection.execute("ROLLBACK", deadline));
  return migrated;
}

}  // namespace skein::postgres
