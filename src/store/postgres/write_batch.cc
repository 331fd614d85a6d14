#include "store/postgres/write_batch.h"

#include <algorithm>

namespace skein::postgres {
namespace {

// Events are the first seven parameters of whatever inserts them, the mark is the eighth.
#define SKEIN_INSERT_EVENTS \
  "INSERT INTO skein.events(id, seq, ts, tokens, key, crc, body, mark, g) SELECT "
#define SKEIN_UNNEST_EVENTS                                                                  \
  "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[]," \
  " $7::text[]"
constexpr char kInsertEvents[] = SKEIN_INSERT_EVENTS
    "id, seq, ts, tokens, key, crc, body, $8::bigint, g FROM " SKEIN_UNNEST_EVENTS
    ", $9::bigint[]) AS e(id, seq, ts, tokens, key, crc, body, g)";
// Heads that are as expected move on; if one is not, its events have no place in the feed, and the
// table refuses them.
constexpr char kGrow[] =
    "WITH moved AS (UPDATE skein.threads t SET last_seq = " SKEIN_OF_HEAD("$13", "$9")
    ", updated = " SKEIN_OF_HEAD("$14", "$9") ", listed = " SKEIN_OF_HEAD("$15", "$9")
    " WHERE t.id = ANY($9::bigint[]) AND t.last_seq = " SKEIN_OF_HEAD("$10", "$9")
    " AND t.version = " SKEIN_OF_HEAD("$11", "$9") " AND t.token = " SKEIN_OF_HEAD("$12", "$9")
    " RETURNING 1) " SKEIN_INSERT_EVENTS
    "id, seq, ts, tokens, key, crc, body, $8::bigint,"
    " CASE WHEN (SELECT count(*) FROM moved) = $16::bigint THEN nextval('skein.feed') END"
    " FROM " SKEIN_UNNEST_EVENTS ") AS e(id, seq, ts, tokens, key, crc, body)";
// The same for one event, in half the time. If the head is not as expected, nothing happens.
constexpr char kGrowByOne[] =
    "WITH moved AS (UPDATE skein.threads t SET last_seq = $2, updated = $12, listed = $13"
    " WHERE t.id = $1 AND t.last_seq = $9 AND t.version = $10 AND t.token = $11"
    "  AND (current_setting('synchronous_commit') = 'off') = ($14::bigint = 0)"
    " RETURNING t.id) " SKEIN_INSERT_EVENTS
    "id, $2, $3::bigint, $4::bigint, $5::text, $6::bigint, $7::text, $8::bigint,"
    " CASE WHEN" SKEIN_ANNOUNCE("$15") " IS NOT NULL THEN nextval('skein.feed') END FROM moved";
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

std::optional<std::string_view> key_of(const PreparedEvent& event) {
  if (event.key.empty()) return std::nullopt;
  return event.key;
}

std::uint32_t crc_of(const AddedEvent& added) {
  const PreparedEvent& event = *added.event;
  return event_crc(added.seq, event.timestamp_us, event.tokens, event.content_crc);
}

}  // namespace

void WriteBatch::add_event(Head& head, const PreparedEvent& event) {
  const Seq seq = head.last_seq + 1;
  const bool grows = !loaded.grown.empty();
  events_.push_back({head.id, seq, grows ? 0 : loaded.next_g(), &event});
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
  if (bytes_ > kFlushBytes && !grows) flush();
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

Arguments WriteBatch::events_as_columns() const {
  Column id(Type::kBigint), seq(Type::kBigint), ts(Type::kBigint), tokens(Type::kBigint),
      key(Type::kText), crc(Type::kBigint), body(Type::kText);
  for (const AddedEvent& added : events_) {
    id.add(added.thread.bits());
    seq.add(added.seq);
    ts.add(added.event->timestamp_us);
    tokens.add(added.event->tokens);
    key.add(key_of(*added.event));
    crc.add(crc_of(added));
    body.add(added.event->body);
  }
  return Arguments::of(id, seq, ts, tokens, key, crc, body, mark);
}

void WriteBatch::flush_events() {
  if (!events_.empty()) {
    Column g(Type::kBigint);
    for (const AddedEvent& added : events_) g.add(added.g);
    connection_.queue(kInsertEvents, events_as_columns().add(g));
    events_.clear();
  }
  flush_branches();
}

void WriteBatch::flush_branches() {
  if (branches_.id.size() == 0) return;
  connection_.queue(kInsertBranches, Arguments::of(branches_.id, branches_.seq, branches_.base));
  for (Column* column : {&branches_.id, &branches_.seq, &branches_.base}) column->clear();
}

void WriteBatch::queue_growth(const Entering& entering) {
  if (events_.size() == 1 && branches_.id.size() == 0 && entering.settled()) {
    const AddedEvent& added = events_.front();
    const PreparedEvent& event = *added.event;
    const Head& head = *loaded.head(added.thread);
    connection_.queue(
        kGrowByOne, Arguments::of(added.thread.bits(), added.seq, event.timestamp_us, event.tokens,
                                  key_of(event), crc_of(added), event.body, mark, added.seq - 1,
                                  head.version, head.lease.token, head.updated, head.listed,
                                  entering.flush() ? 1 : 0, entering.lock_class()));
    return;
  }
  Column id(Type::kBigint), before(Type::kBigint), version(Type::kBigint), token(Type::kBigint),
      last_seq(Type::kBigint), updated(Type::kBigint), listed(Type::kBigint);
  for (const auto& [thread, growth] : loaded.grown) {
    const Head& head = *loaded.head(thread);
    id.add(thread.bits());
    before.add(head.last_seq - growth.count);
    version.add(head.version);
    token.add(head.lease.token);
    last_seq.add(head.last_seq);
    updated.add(head.updated);
    listed.add(head.listed);
  }
  entering.queue(connection_);
  Arguments arguments = events_as_columns();
  for (const Column* column : {&id, &before, &version, &token, &last_seq, &updated, &listed})
    arguments.add(*column);
  connection_.queue(kGrow, arguments.add(loaded.grown.size()));
  flush_branches();
}

bool WriteBatch::grew(const std::vector<Answer>& answers) {
  return std::none_of(answers.begin(), answers.end(),
                      [](const Answer& answer) { return answer.command() == "INSERT 0 0"; });
}

bool WriteBatch::changed_since(const Failure& failure) { return failure.state == "23502"; }

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
