#include "recall/index/thread_rows.h"

#include "core/try.h"

namespace skein {
namespace {

// Caches that are further behind than so many commits start over.
constexpr std::int64_t kTraceGenerations = 100'000;

}  // namespace

Result<std::optional<ThreadRow>> find_thread_row(Database& db, ThreadId thread) {
  SKEIN_ASSIGN(Query query, db.query("SELECT agent, created, parent, parent_seq, target, covered, "
                                     "state, changed FROM threads WHERE thread = ?"));
  query.bind(thread.bits());
  SKEIN_ASSIGN(const bool found, query.step());
  if (!found) return std::nullopt;
  ThreadRow row;
  row.thread = thread;
  row.agent = query.integer(0);
  row.created = Timestamp{query.integer(1)};
  if (!query.is_null(2)) {
    row.parent = Parent{ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(2))),
                        static_cast<Seq>(query.integer(3))};
  }
  row.target = static_cast<Seq>(query.integer(4));
  row.covered = static_cast<Seq>(query.integer(5));
  row.state = static_cast<ThreadState>(query.integer(6));
  row.changed = query.integer(7);
  return row;
}

Result<void> put_thread_row(Database& db, const ThreadRow& row) {
  SKEIN_ASSIGN(Query query,
               db.query("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  std::optional<std::int64_t> parent;
  std::optional<std::int64_t> parent_seq;
  if (row.parent) {
    parent = static_cast<std::int64_t>(row.parent->thread.bits());
    parent_seq = static_cast<std::int64_t>(row.parent->seq);
  }
  return query
      .bind(row.thread.bits(), row.agent, row.created.us, parent, parent_seq, row.target,
            row.covered, static_cast<std::int64_t>(row.state), row.changed)
      .run();
}

Result<std::vector<ThreadId>> threads_behind(Database& db, std::optional<std::int64_t> agent,
                                             std::size_t limit) {
  SKEIN_ASSIGN(Query query,
               db.query(agent ? "SELECT thread FROM threads WHERE (covered < target OR state = 1) "
                                "AND agent = ?2 LIMIT ?1"
                              : "SELECT thread FROM threads WHERE covered < target OR state = 1 "
                                "LIMIT ?1"));
  if (agent) {
    query.bind(limit, *agent);
  } else {
    query.bind(limit);
  }
  std::vector<ThreadId> threads;
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return threads;
    threads.push_back(ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(0))));
  }
}

Result<std::uint64_t> events_behind(Database& db, std::optional<std::int64_t> agent) {
  SKEIN_ASSIGN(
      Query query,
      db.query(agent ? "SELECT CAST(total(target - min(covered, target)) AS INTEGER) FROM threads "
                       "WHERE (covered < target OR state = 1) AND agent = ?1"
                     : "SELECT CAST(total(target - min(covered, target)) AS INTEGER) FROM threads "
                       "WHERE covered < target OR state = 1"));
  if (agent) query.bind(*agent);
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? static_cast<std::uint64_t>(query.integer(0)) : 0;
}

Result<void> mark_forks(Database& db, ThreadId parent) {
  SKEIN_ASSIGN(Query query,
               db.query("UPDATE threads SET state = 1 WHERE parent = ? AND state = 0"));
  return query.bind(parent.bits()).run();
}

Result<void> distrust_vectors_file(Database& db, std::int64_t agent) {
  SKEIN_ASSIGN(Query query, db.query("UPDATE agents SET file_bytes = -1 "
                                     "WHERE agent = ? AND file_bytes IS NOT NULL"));
  SKEIN_TRY(query.bind(agent).run());
  SKEIN_ASSIGN(const auto removals, index_number(db, kRemovals));
  return set_index_value(db, kRemovals, removals + 1);
}

Result<void> count_messages(Database& db, std::int64_t agent, std::int64_t more) {
  SKEIN_ASSIGN(Query query,
               db.query("UPDATE agents SET messages = max(0, messages + ?) WHERE agent = ?"));
  return query.bind(more, agent).run();
}

Result<std::uint64_t> remove_messages(IndexWriting& writing, ThreadRow& row) {
  Database& db = writing.db();
  {
    SKEIN_ASSIGN(Query vectors, db.query("DELETE FROM vectors WHERE message IN "
                                         "(SELECT message FROM messages WHERE thread = ?)"));
    SKEIN_TRY(vectors.bind(row.thread.bits()).run());
  }
  {
    SKEIN_ASSIGN(Query messages, db.query("DELETE FROM messages WHERE thread = ?"));
    SKEIN_TRY(messages.bind(row.thread.bits()).run());
  }
  SKEIN_ASSIGN(const auto removed, db.integer("SELECT changes()"));
  if (removed == 0) return 0;
  row.changed = writing.generation();
  SKEIN_TRY(count_messages(db, row.agent, -removed));
  SKEIN_TRY(distrust_vectors_file(db, row.agent));
  SKEIN_ASSIGN(Query old, db.query("DELETE FROM threads WHERE state = 2 AND changed > 0 "
                                   "AND changed < ?"));
  SKEIN_TRY(old.bind(writing.generation() - kTraceGenerations).run());
  const std::int64_t known = std::max<std::int64_t>(0, writing.generation() - kTraceGenerations);
  SKEIN_ASSIGN(const auto reload_from, index_number(db, kReloadFrom));
  if (known > reload_from) SKEIN_TRY(set_index_value(db, kReloadFrom, known));
  return static_cast<std::uint64_t>(removed);
}

Result<void> remove_message(IndexWriting& writing, ThreadRow& row, std::int64_t message) {
  Database& db = writing.db();
  SKEIN_ASSIGN(Query vector, db.query("DELETE FROM vectors WHERE message = ?"));
  SKEIN_TRY(vector.bind(message).run());
  SKEIN_ASSIGN(Query entry, db.query("DELETE FROM messages WHERE message = ?"));
  SKEIN_TRY(entry.bind(message).run());
  row.changed = writing.generation();
  return distrust_vectors_file(db, row.agent);
}

}  // namespace skein
