#include "store/postgres/server_check.h"

#include <string>
#include <string_view>
#include <vector>

#include "core/checksum.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::postgres {
namespace {

// As the migrations make it: each column with its type, and the unique indexes.
struct Table {
  const char* name;
  std::vector<std::string_view> columns;
  std::vector<std::string_view> unique;
};

const std::vector<Table>& tables() {
  static const std::vector<Table> all{
      {"migrations", {"version bigint"}, {"migrations_pkey"}},
      {"threads",
       {"id bigint", "agent text", "created bigint", "status bigint", "made bigint",
        "version bigint", "last_seq bigint", "updated bigint", "listed bigint", "token bigint",
        "holder text", "expires bigint", "boot text"},
       {"threads_pkey"}},
      {"manifests", {"id bigint", "crc bigint", "body text"}, {"manifests_pkey"}},
      {"aliases", {"alias text", "id bigint"}, {"aliases_pkey"}},
      {"thread_meta", {"id bigint", "hash bigint", "key bytea", "value bytea"}, {}},
      {"events",
       {"id bigint", "seq bigint", "g bigint", "ts bigint", "tokens bigint", "key text",
        "crc bigint", "body text", "mark bigint"},
       {"events_pkey", "events_by_key"}},
      {"branches", {"id bigint", "seq bigint", "base bigint"}, {"branches_pkey"}},
      {"records",
       {"collection text", "key bytea", "version bigint", "crc bigint", "bytes bytea"},
       {"records_pkey"}},
      {"changes",
       {"g bigint", "kind bigint", "thread bigint", "collection text", "key bytea", "crc bigint"},
       {"changes_pkey", "deleted_records"}},
  };
  return all;
}

// Lists end with a comma each, so that an entry is found by its text.
constexpr char kTables[] =
    "SELECT c.relname::text, c.relkind::text, c.relpersistence::text,"
    " (c.relispartition OR EXISTS (SELECT FROM pg_inherits i"
    "  WHERE i.inhrelid = c.oid OR i.inhparent = c.oid))::int::bigint,"
    " coalesce((SELECT a.amname::text FROM pg_am a WHERE a.oid = c.relam), ''),"
    " ',' || coalesce((SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ',')"
    "  FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '')"
    "  || ',',"
    " ',' || coalesce((SELECT string_agg(i.relname::text, ',') FROM pg_index x"
    "  JOIN pg_class i ON i.oid = x.indexrelid"
    "  WHERE x.indrelid = c.oid AND x.indisunique AND x.indisvalid), '') || ','"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p', 'f', 'v', 'm')";
// Tables of the extension Citus look ordinary otherwise.
constexpr char kHasCitus[] =
    "SELECT (to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL)::int::bigint";
constexpr char kDistributed[] =
    "SELECT c.relname::text FROM pg_catalog.pg_dist_partition d"
    " JOIN pg_class c ON c.oid = d.logicalrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = $1::text LIMIT 1";

constexpr char kBegin[] = "BEGIN";
constexpr char kRollback[] = "ROLLBACK";
constexpr char kTakeLock[] =
    "SELECT pg_try_advisory_xact_lock($1::bigint::int, $2::bigint::int)::int::bigint";
constexpr char kSeeLock[] =
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted"
    " AND classid = $1::bigint::oid AND objid = $2::bigint::oid AND mode = 'ExclusiveLock'"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

Error foreign_table(const Settings& settings, std::string_view table, const std::string& why) {
  return {ErrorCode::kInvalid, "table " + quote(settings.schema + "." + std::string(table)) +
                                   " was not made by Skein: it " + why +
                                   "; Skein needs the ordinary tables that it makes itself, "
                                   "skein_schema=NAME in the URL names another schema"};
}

std::string kind_of(std::string_view relkind) {
  if (relkind == "p") return "is partitioned";
  if (relkind == "f") return "is a foreign table";
  return "is a view";
}

// Empty: it is as Skein makes it.
std::string find_difference(const Table& table, const Answer& found, int row) {
  if (found.bytes(row, 1) != "r") return kind_of(found.bytes(row, 1));
  if (found.bytes(row, 2) != "p") return "is unlogged or temporary";
  if (found.integer(row, 3) != 0) return "is a partition, or inherits";
  if (found.bytes(row, 4) != "heap")
    return "has the access method " + quote(found.bytes(row, 4)) + " instead of heap";
  const auto lists = [&](int column, std::string_view entry) {
    return found.bytes(row, column).find("," + std::string(entry) + ",") != std::string_view::npos;
  };
  for (const std::string_view column : table.columns) {
    if (!lists(5, column)) return "has no column " + quote(column);
  }
  for (const std::string_view index : table.unique) {
    if (!lists(6, index)) return "has no unique index " + quote(index);
  }
  return {};
}

Result<void> check_distribution(Connection& connection, const Settings& settings,
                                Deadline deadline) {
  const std::string_view schema = settings.schema;
  SKEIN_ASSIGN(const Answer found, connection.ask(kDistributed, Arguments::of(schema), deadline));
  if (found.rows() == 0) return {};
  return tl::unexpected(foreign_table(settings, found.bytes(0, 0), "is distributed by Citus"));
}

}  // namespace

Result<void> check_tables(Connection& connection, const Settings& settings, Deadline deadline) {
  const std::string_view schema = settings.schema;
  connection.queue(kTables, Arguments::of(schema));
  connection.queue(kHasCitus);
  SKEIN_ASSIGN(const auto answers, connection.exchange(deadline));
  const Answer& found = answers.at(0);
  for (const Table& table : tables()) {
    int row = 0;
    while (row < found.rows() && found.bytes(row, 0) != table.name) ++row;
    const std::string difference =
        row < found.rows() ? find_difference(table, found, row) : "is missing";
    if (!difference.empty()) return tl::unexpected(foreign_table(settings, table.name, difference));
  }
  if (answers.at(1).integer(0, 0) == 0) return {};
  return check_distribution(connection, settings, deadline);
}

Result<void> check_locks(Connection& holder, Connection& other, const Settings& settings,
                         Deadline deadline) {
  // A number of our own: others may check at the same time.
  const Arguments lock = Arguments::of(checksum("skein check " + settings.schema) & 0x7fffffff,
                                       random_ids().next() & 0x7fffffff);
  holder.queue(kBegin);
  holder.queue(kTakeLock, lock);
  SKEIN_TRY(holder.exchange(deadline));
  other.queue(kSeeLock, lock);
  other.queue(kTakeLock, lock);
  auto seen = other.exchange(deadline);
  SKEIN_TRY(holder.ask(kRollback, {}, deadline));
  if (!seen) {
    seen.error().message =
        "while one connection held a lock, a second one got no answer (a pooler must have at least "
        "two connections to the server): " +
        seen.error().message;
    return tl::unexpected(std::move(seen.error()));
  }
  if (seen->at(1).integer(0, 0) != 0)
    return fail(ErrorCode::kInvalid,
                "the server's advisory locks do nothing: two connections got the same exclusive "
                "lock. The change feed would skip events; use PostgreSQL itself, or a service "
                "that implements pg_advisory_xact_lock and pg_locks");
  if (seen->at(0).integer(0, 0) != 1)
    return fail(ErrorCode::kInvalid,
                "the server does not show in pg_locks the advisory lock that another connection "
                "holds. The change feed would skip events; use PostgreSQL itself, or a service "
                "that implements pg_advisory_xact_lock and pg_locks");
  return {};
}

}  // namespace skein::postgres
