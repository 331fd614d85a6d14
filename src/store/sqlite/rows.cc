#include "store/sqlite/rows.h"

#include <algorithm>

#include "core/try.h"

namespace skein::sqlite {
namespace {

constexpr char kInsertEvent[] =
    "INSERT INTO events(g, id, seq, updated, lag, tokens, key_hash, key, crc, body)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr char kInsertBranch[] = "INSERT INTO branches(id, seq, base) VALUES(?, ?, ?)";
constexpr char kUnlist[] = "DELETE FROM listed WHERE agent = ? AND updated = ? AND id = ?";
constexpr char kList[] = "INSERT INTO listed(agent, updated, id, behind) VALUES(?, ?, ?, 0)";
constexpr char kFallBehind[] =
    "UPDATE listed SET behind = 1 WHERE agent = ? AND updated = ? AND id = ?";
constexpr char kInsertChange[] =
    "INSERT INTO changes(g, kind, thread, collection, key, crc) VALUES(?, ?, ?, ?, ?, ?)";

}  // namespace

Result<void> move_in_list(Database& database, ThreadId id, std::int64_t agent, std::int64_t from,
                          std::int64_t to) {
  SKEIN_ASSIGN(Query unlist, database.query(kUnlist));
  SKEIN_TRY(unlist.bind(agent, from, id.bits()).run());
  SKEIN_ASSIGN(Query list, database.query(kList));
  return list.bind(agent, to, id.bits()).run();
}

Result<EventRow> insert_event(WriteContext& context, ThreadId id, Head& head,
                              const PreparedEvent& event) {
  const std::int64_t updated = std::max(head.updated, event.timestamp_us);
  if (updated > head.listed + kListLagUs) {
    SKEIN_TRY(move_in_list(context.database, id, head.agent, head.listed, updated));
    head.listed = updated;
  } else if (updated > head.listed && head.updated <= head.listed) {
    SKEIN_ASSIGN(Query behind, context.database.query(kFallBehind));
    SKEIN_TRY(behind.bind(head.agent, head.listed, id.bits()).run());
  }
  EventRow row{.g = context.next_g(),
               .id = id,
               .seq = head.last_seq + 1,
               .updated = updated,
               .lag = updated - head.listed,
               .tokens = event.tokens,
               .key = event.key,
               .crc = 0,
               .body = event.body};
  SKEIN_ASSIGN(Query insert, context.database.query(kInsertEvent));
  std::optional<std::string_view> key;
  if (event.key_hash) key = event.key;
  row.crc = event_crc(row, event.content_crc);
  insert.bind(row.g, id.bits(), row.seq, row.updated, row.lag, row.tokens, event.key_hash, key,
              row.crc, row.body);
  SKEIN_TRY(insert.run());
  if (event.base && *event.base != head.last_seq) {
    SKEIN_ASSIGN(Query branch, context.database.query(kInsertBranch));
    SKEIN_TRY(branch.bind(id.bits(), row.seq, *event.base).run());
  }
  head.updated = updated;
  head.last_seq = row.seq;
  return row;
}

EventRow event_row(const Query& query) {
  EventRow row{.g = query.integer(0),
               .id = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(1))),
               .seq = static_cast<Seq>(query.integer(2)),
               .updated = query.integer(3),
               .lag = query.integer(4),
               .tokens = std::nullopt,
               .key = {},
               .crc = query.integer(7),
               .body = query.bytes(8)};
  if (!query.is_null(5)) row.tokens = static_cast<std::uint32_t>(query.integer(5));
  if (!query.is_null(6)) row.key = query.bytes(6);
  return row;
}

std::uint32_t event_crc(const EventRow& row, std::uint32_t content) {
  return numbers_crc({static_cast<std::uint64_t>(row.g), row.id.bits(), row.seq,
                      static_cast<std::uint64_t>(row.updated), static_cast<std::uint64_t>(row.lag),
                      tokens_number(row.tokens)},
                     content);
}

bool verifies(const EventRow& row) {
  return row.missing == nullptr && event_crc(row, content_crc(row.key, row.body)) == row.crc;
}

void decode_event(const EventRow& row, EventReader& reader, Event& event) {
  const char* damage = row.missing;
  if (damage == nullptr && !verifies(row)) damage = "the checksum does not match";
  decode_body(row.body, damage, reader, event);
  event.seq = row.seq;
  event.key.assign(row.key);
  event.tokens = row.tokens;
}

ChangeRow change_at(const Query& query) {
  ChangeRow row{.g = query.integer(0), .change = {}, .crc_matches = false};
  row.change.kind = static_cast<ChangeKind>(query.integer(1));
  row.change.thread = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(2)));
  row.change.collection = query.bytes(3);
  row.change.key = query.bytes(4);
  row.crc_matches = change_crc(row.g, row.change) == query.integer(5);
  return row;
}

Result<std::int64_t> insert_change(WriteContext& context, const Change& change) {
  const std::int64_t g = context.next_g();
  const bool record =
      change.kind == ChangeKind::kRecordWritten || change.kind == ChangeKind::kRecordDeleted;
  std::optional<std::uint64_t> thread;
  std::optional<std::string_view> collection;
  std::optional<std::string_view> key;
  if (record) {
    collection = change.collection;
    key = change.key;
  } else {
    thread = change.thread.bits();
  }
  SKEIN_ASSIGN(Query insert, context.database.query(kInsertChange));
  insert.bind(g, static_cast<int>(change.kind), thread, collection, key, change_crc(g, change));
  SKEIN_TRY(insert.run());
  return g;
}

}  // namespace skein::sqlite
