#include "store/sqlite/manifests.h"

#include <algorithm>

#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/sqlite/rows.h"

namespace skein::sqlite {
namespace {

constexpr char kLoad[] =
    "SELECT made, version, crc, body FROM threads LEFT JOIN manifests USING(id)"
    " WHERE threads.id = ?";
constexpr char kByAlias[] = "SELECT id FROM threads WHERE alias = ?";
constexpr char kFindAgent[] = "SELECT agent FROM agents WHERE name = ?";
constexpr char kInsertAgent[] = "INSERT INTO agents(name) VALUES(?)";
constexpr char kInsertThread[] =
    "INSERT INTO threads(id, agent, created, updated, listed, status, made, version, alias)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr char kUpdateThread[] =
    "UPDATE threads SET updated = ?, listed = ?, status = ?, version = ? WHERE id = ?";
constexpr char kMoveToAgent[] = "UPDATE threads SET agent = ? WHERE id = ?";
constexpr char kStoreManifest[] = "INSERT OR REPLACE INTO manifests(id, crc, body) VALUES(?, ?, ?)";
constexpr char kInsertMeta[] = "INSERT OR IGNORE INTO thread_meta(key, value, id) VALUES(?, ?, ?)";
constexpr char kDeleteMeta[] = "DELETE FROM thread_meta WHERE key = ? AND value = ? AND id = ?";
constexpr char kInsertListed[] =
    "INSERT INTO listed(agent, updated, id, behind) VALUES(?, ?, ?, 0)";
constexpr char kDeleteListed[] = "DELETE FROM listed WHERE agent = ? AND updated = ? AND id = ?";
constexpr char kCount[] =
    "INSERT INTO totals(agent, status, threads) VALUES(?1, ?2, ?3)"
    " ON CONFLICT DO UPDATE SET threads = threads + ?3";
constexpr char kDeleteChange[] = "DELETE FROM changes WHERE g = ?";
constexpr char kPlaces[] = "SELECT made, version FROM threads WHERE id = ?";

constexpr const char* kDeleteById[] = {
    "DELETE FROM events WHERE g IN (SELECT g FROM events INDEXED BY events_by_thread WHERE id = ?)",
    "DELETE FROM branches WHERE id = ?",
    "DELETE FROM leases WHERE id = ?",
    "DELETE FROM manifests WHERE id = ?",
    "DELETE FROM threads WHERE id = ?",
};
constexpr char kDeleteAllMeta[] = "DELETE FROM thread_meta WHERE id = ?";

template <class... Values>
Result<void> run(Database& database, const char* sql, const Values&... values) {
  SKEIN_ASSIGN(Query query, database.query(sql));
  return query.bind(values...).run();
}

Result<std::int64_t> intern_agent(Database& database, std::string_view name) {
  {
    SKEIN_ASSIGN(Query find, database.query(kFindAgent));
    SKEIN_ASSIGN(const bool known, find.bind(name).step());
    if (known) return find.integer(0);
  }
  SKEIN_TRY(run(database, kInsertAgent, name));
  return sqlite3_last_insert_rowid(database.handle());
}

Result<void> store_manifest(Database& database, const Manifest& manifest) {
  const std::string body = encode_manifest(manifest);
  return run(database, kStoreManifest, manifest.id.bits(),
             manifest_crc(manifest.id, manifest.version, body), body);
}

Result<void> change_meta(Database& database, const char* sql, const Manifest& manifest) {
  for (const auto& [key, value] : scalar_members(manifest.metadata))
    SKEIN_TRY(run(database, sql, key, value, manifest.id.bits()));
  return {};
}

}  // namespace

Result<std::optional<StoredThread>> load_thread(Database& database, ThreadId id) {
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  if (!head) return std::nullopt;
  SKEIN_ASSIGN(Query query, database.query(kLoad));
  SKEIN_ASSIGN(const bool found, query.bind(id.bits()).step());
  if (!found) return std::nullopt;
  if (query.is_null(2)) return tl::unexpected(manifest_damaged(id, "is missing"));
  SKEIN_ASSIGN(Manifest manifest, decode_manifest(id, static_cast<Version>(query.integer(1)),
                                                  query.integer(2), query.bytes(3)));
  manifest.last_seq = head->last_seq;
  manifest.updated_at = std::max(manifest.updated_at, Timestamp{head->updated});
  return StoredThread{std::move(manifest), *head, query.integer(0)};
}

Result<std::optional<ThreadId>> find_alias(Database& database, std::string_view alias) {
  SKEIN_ASSIGN(Query query, database.query(kByAlias));
  SKEIN_ASSIGN(const bool found, query.bind(alias).step());
  if (!found) return std::nullopt;
  return ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(0)));
}

Result<Head> insert_thread(WriteContext& context, Manifest& manifest, std::int64_t listed) {
  Database& database = context.database;
  SKEIN_ASSIGN(const auto g,
               insert_change(context, {.kind = ChangeKind::kCreated, .thread = manifest.id}));
  manifest.version = static_cast<Version>(g);
  SKEIN_ASSIGN(const auto agent, intern_agent(database, manifest.agent_id));
  const Head head{.agent = agent,
                  .status = static_cast<int>(manifest.status),
                  .updated = manifest.updated_at.us,
                  .listed = listed,
                  .last_seq = 0,
                  .version = manifest.version,
                  .lease = 0};
  SKEIN_TRY(run(database, kInsertThread, manifest.id.bits(), agent, manifest.created_at.us,
                head.updated, head.listed, static_cast<int>(manifest.status), g, g,
                manifest.alias));
  SKEIN_TRY(run(database, kInsertListed, agent, head.listed, manifest.id.bits()));
  SKEIN_TRY(run(database, kCount, agent, head.status, 1));
  SKEIN_TRY(store_manifest(database, manifest));
  SKEIN_TRY(change_meta(database, kInsertMeta, manifest));
  return head;
}

Result<void> replace_manifest(WriteContext& context, const StoredThread& old, Manifest& manifest) {
  Database& database = context.database;
  const auto old_version = static_cast<std::int64_t>(old.manifest.version);
  if (old_version != old.made) SKEIN_TRY(run(database, kDeleteChange, old_version));
  SKEIN_ASSIGN(const auto g,
               insert_change(context, {.kind = ChangeKind::kUpdated, .thread = manifest.id}));
  manifest.version = static_cast<Version>(g);
  std::int64_t agent = old.head.agent;
  if (manifest.agent_id != old.manifest.agent_id) {
    SKEIN_ASSIGN(agent, intern_agent(database, manifest.agent_id));
    SKEIN_TRY(run(database, kMoveToAgent, agent, manifest.id.bits()));
  }
  const std::int64_t updated = manifest.updated_at.us;
  if (updated != old.head.listed || agent != old.head.agent) {
    SKEIN_TRY(run(database, kDeleteListed, old.head.agent, old.head.listed, manifest.id.bits()));
    SKEIN_TRY(run(database, kInsertListed, agent, updated, manifest.id.bits()));
  }
  const int status = static_cast<int>(manifest.status);
  SKEIN_TRY(run(database, kUpdateThread, updated, updated, status, g, manifest.id.bits()));
  if (status != old.head.status || agent != old.head.agent) {
    SKEIN_TRY(run(database, kCount, old.head.agent, old.head.status, -1));
    SKEIN_TRY(run(database, kCount, agent, status, 1));
  }
  SKEIN_TRY(store_manifest(database, manifest));
  if (manifest.metadata == old.manifest.metadata) return {};
  SKEIN_TRY(change_meta(database, kDeleteMeta, old.manifest));
  return change_meta(database, kInsertMeta, manifest);
}

Result<bool> delete_thread(WriteContext& context, ThreadId id) {
  Database& database = context.database;
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  if (!head) return false;
  {
    SKEIN_ASSIGN(Query places, database.query(kPlaces));
    SKEIN_ASSIGN(const bool found, places.bind(id.bits()).step());
    if (found) {
      SKEIN_TRY(run(database, kDeleteChange, places.integer(0)));
      SKEIN_TRY(run(database, kDeleteChange, places.integer(1)));
    }
  }
  if (const auto thread = load_thread(database, id); thread && *thread)
    SKEIN_TRY(change_meta(database, kDeleteMeta, (*thread)->manifest));
  else
    SKEIN_TRY(run(database, kDeleteAllMeta, id.bits()));  // slow, but sure
  SKEIN_TRY(run(database, kDeleteListed, head->agent, head->listed, id.bits()));
  SKEIN_TRY(run(database, kCount, head->agent, head->status, -1));
  for (const char* sql : kDeleteById) SKEIN_TRY(run(database, sql, id.bits()));
  context.leases.erase(id);
  SKEIN_TRY(insert_change(context, {.kind = ChangeKind::kRemoved, .thread = id}));
  return true;
}

}  // namespace skein::sqlite
