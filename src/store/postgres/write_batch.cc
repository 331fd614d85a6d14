#include "store/postgres/write_batch.h"

#include <algorithm>

namespace skein::postgres {
namespace {

constexpr char kInsertEvents[] =
    "INSERT INTO skein.events(id, seq, g, ts, tokens, key, crc, body)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
    " $6::text[], $7::bigint[], $8::text[])";
constexpr char kInsertBranches[] =
    "INSERT INTO skein.branches(id, seq, base)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])";
constexpr char kMoveHeads[] =
    "UPDATE skein.threads t SET last_seq = w.last_seq, updated = w.updated, listed = w.listed"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])"
    " AS w(id, last_seq, updated, listed) WHERE t.id = w.id";
constexpr char kInsertChanges[] =
    "INSERT INTO skein.changes(g, kind, thread, collection, key, crc)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[],"
    " $6::bigint[])";
constexpr char kDeleteChanges[] = "DELETE FROM skein.changes WHERE g = ANY($1::bigint[])";
constexpr char kDeleteTombstones[] =
    "DELETE FROM skein.changes c USING unnest($1::text[], $2::bytea[]) AS w(collection, key)"
    " WHERE c.kind = 5 AND c.collection = w.collection AND c.key = w.key";
static_assert(static_cast<int>(ChangeKind::kRecordDeleted) == 5);
constexpr char kInsertRecords[] =
    "INSERT INTO skein.records(collection, key, version, crc, bytes)"
    " SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[])";
constexpr char kUpdateRecords[] =
    "UPDATE skein.records r SET version = w.version, crc = w.crc, bytes = w.bytes"
    " FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[])"
    " AS w(collection, key, version, crc, bytes)"
    " WHERE r.collection = w.collection AND r.key = w.key";

}  // namespace

std::int64_t WriteBatch::add_event(Head& head, const PreparedEvent& event) {
  const Seq seq = head.last_seq + 1;
  const std::int64_t g = loaded.next_g();
  events_.id.add(head.id.bits());
  events_.seq.add(seq);
  events_.g.add(g);
  events_.ts.add(event.timestamp_us);
  events_.tokens.add(event.tokens);
  if (event.key.empty())
    events_.key.add_null();
  else
    events_.key.add(event.key);
  events_.crc.add(event_crc(seq, event.timestamp_us, event.tokens, event.content_crc));
  events_.body.add(event.body);
  if (event.base && *event.base != head.last_seq) {
    branches_.id.add(head.id.bits());
    branches_.seq.add(seq);
    branches_.base.add(*event.base);
  }
  head.last_seq = seq;
  head.updated = std::max(head.updated, event.timestamp_us);
  if (head.updated > head.listed + kListLagUs) head.listed = head.updated;
  moved_.insert(head.id);
  wrote_ = true;
  bytes_ += event.body.size();
  if (bytes_ > kFlushBytes) flush();
  return g;
}

std::int64_t WriteBatch::add_change(Change change) {
  const std::int64_t g = loaded.next_g();
  changes_.g.add(g);
  changes_.kind.add(static_cast<int>(change.kind));
  changes_.thread.add(change.thread.bits());
  changes_.collection.add(change.collection);
  changes_.key.add(change.key);
  changes_.crc.add(change_crc(g, change));
  wrote_ = true;
  return g;
}

void WriteBatch::overtake_deletion(const RecordName& name) {
  undeleted_.collection.add(name.first);
  undeleted_.key.add(name.second);
}

void WriteBatch::put_record(const RecordName& name, Version version, std::string_view bytes,
                            bool exists) {
  const auto [put, fresh] = records_.try_emplace(name);
  put->second.version = version;
  put->second.bytes = bytes;
  if (fresh) put->second.exists = exists;
  bytes_ += bytes.size();
  wrote_ = true;
  if (bytes_ > kFlushBytes) flush();
}

void WriteBatch::queue(std::string_view sql, const Arguments& arguments) {
  flush();
  connection_.queue(sql, arguments);
  wrote_ = true;
}

void WriteBatch::flush() {
  flush_events();
  flush_heads();
  flush_changes();
  flush_overtaken();
  flush_records();
  bytes_ = 0;
}

void WriteBatch::flush_events() {
  if (events_.id.size() > 0) {
    connection_.queue(kInsertEvents,
                      Arguments::of(events_.id, events_.seq, events_.g, events_.ts, events_.tokens,
                                    events_.key, events_.crc, events_.body));
    for (Column* column : {&events_.id, &events_.seq, &events_.g, &events_.ts, &events_.tokens,
                           &events_.key, &events_.crc, &events_.body})
      column->clear();
  }
  if (branches_.id.size() > 0) {
    connection_.queue(kInsertBranches, Arguments::of(branches_.id, branches_.seq, branches_.base));
    for (Column* column : {&branches_.id, &branches_.seq, &branches_.base}) column->clear();
  }
}

void WriteBatch::flush_heads() {
  Column id(Type::kBigint), last_seq(Type::kBigint), updated(Type::kBigint), listed(Type::kBigint);
  for (const ThreadId moved : moved_) {
    const Head* head = loaded.head(moved);
    if (head == nullptr || loaded.foreseen.contains(moved)) continue;
    id.add(moved.bits());
    last_seq.add(head->last_seq);
    updated.add(head->updated);
    listed.add(head->listed);
  }
  moved_.clear();
  if (id.size() > 0) connection_.queue(kMoveHeads, Arguments::of(id, last_seq, updated, listed));
}

void WriteBatch::flush_changes() {
  if (changes_.g.size() == 0) return;
  connection_.queue(kInsertChanges, Arguments::of(changes_.g, changes_.kind, changes_.thread,
                                                  changes_.collection, changes_.key, changes_.crc));
  for (Column* column : {&changes_.g, &changes_.kind, &changes_.thread, &changes_.collection,
                         &changes_.key, &changes_.crc})
    column->clear();
}

void WriteBatch::flush_overtaken() {
  if (overtaken_.size() > 0) {
    connection_.queue(kDeleteChanges, Arguments::of(overtaken_));
    overtaken_.clear();
  }
  if (undeleted_.key.size() > 0) {
    connection_.queue(kDeleteTombstones, Arguments::of(undeleted_.collection, undeleted_.key));
    undeleted_.collection.clear();
    undeleted_.key.clear();
  }
}

void WriteBatch::flush_records() {
  queue_records(kUpdateRecords, true);
  queue_records(kInsertRecords, false);
  records_.clear();
}

void WriteBatch::queue_records(const char* sql, bool exists) {
  Column collection(Type::kText), key(Type::kBytes), version(Type::kBigint), crc(Type::kBigint),
      bytes(Type::kBytes);
  for (const auto& [name, put] : records_) {
    if (put.exists != exists) continue;
    collection.add(name.first);
    key.add(name.second);
    version.add(put.version);
    crc.add(record_crc(name.first, name.second, put.version, put.bytes));
    bytes.add(put.bytes);
  }
  if (key.size() > 0) connection_.queue(sql, Arguments::of(collection, key, version, crc, bytes));
}

}  // namespace skein::postgres
