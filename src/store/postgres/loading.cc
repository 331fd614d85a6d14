#include "store/postgres/loading.h"

#include <algorithm>
#include <type_traits>

namespace skein::postgres {
namespace {

constexpr char kBegin[] = "BEGIN ISOLATION LEVEL READ COMMITTED";

constexpr char kThreads[] = "SELECT " SKEIN_HEAD_COLUMNS
                            " FROM skein.threads t WHERE t.id = ANY($1::bigint[])"
                            " ORDER BY t.id FOR NO KEY UPDATE";
// Locks and moves in one.
#define SKEIN_LATEST "greatest(t.updated, " SKEIN_OF_HEAD("$3", "$1") ")"
constexpr char kGrow[] = "UPDATE skein.threads t SET last_seq = t.last_seq + " SKEIN_OF_HEAD(
    "$2", "$1") ", updated = " SKEIN_LATEST ", listed = CASE WHEN " SKEIN_LATEST
                " > t.listed + $4::bigint THEN " SKEIN_LATEST
                " ELSE t.listed END WHERE t.id = ANY($1::bigint[]) RETURNING " SKEIN_HEAD_COLUMNS;
constexpr char kRecords[] =
    "SELECT r.collection, r.key, r.version"
    " FROM unnest($1::text[], $2::bytea[]) AS w(collection, key)"
    " JOIN skein.records r ON r.collection = w.collection AND r.key = w.key"
    " ORDER BY r.collection, r.key FOR UPDATE OF r";
constexpr char kManifests[] =
    "SELECT m.id, m.crc, m.body FROM skein.manifests m WHERE m.id = ANY($1::bigint[])";
constexpr char kKeys[] = "SELECT " SKEIN_EVENT_COLUMNS
                         " FROM unnest($1::bigint[], $2::text[]) AS w(id, key)"
                         " JOIN skein.events e ON e.id = w.id AND e.key = w.key";
constexpr char kAliases[] = "SELECT alias, id FROM skein.aliases WHERE alias = ANY($1::text[])";
constexpr char kPrefixes[] =
    "SELECT w.id, w.seq, (SELECT max(e.ts) FROM skein.events e WHERE e.id = w.id AND e.seq <= "
    "w.seq)"
    " FROM unnest($1::bigint[], $2::bigint[]) AS w(id, seq)";
constexpr char kWitnesses[] =
    "SELECT e.id, e.seq, e.mark FROM unnest($1::bigint[], $2::bigint[]) AS w(id, seq)"
    " JOIN skein.events e ON e.id = w.id AND e.seq = w.seq";
constexpr char kPositions[] =
    "SELECT nextval('skein.feed'),"
    " (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint)"  // once, not for each
    " FROM generate_series(1, greatest($1::bigint, 1))";

Column column_of(const std::set<ThreadId>& ids) {
  Column column(Column::Type::kBigint);
  for (const ThreadId id : ids) column.add(id.bits());
  return column;
}

template <class Pairs>
Arguments columns_of(const Pairs& pairs, Column first, Column second) {
  const auto plain = [](const auto& value) -> const auto& { return value; };
  for (const auto& [a, b] : pairs) {
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, ThreadId>)
      first.add(a.bits());
    else
      first.add(plain(a));
    second.add(b);
  }
  return Arguments::of(first, second);
}

Column bigints() { return Column(Column::Type::kBigint); }
Column texts() { return Column(Column::Type::kText); }

void take_keys(const Answer& answer, Loaded& loaded) {
  EventReader reader;
  for (int row = 0; row < answer.rows(); ++row) {
    EventRow stored = event_at(answer, row);
    std::string padded(stored.body);
    padded.append(JsonObjectReader::kPadding, '\0');
    stored.body = std::string_view(padded).substr(0, stored.body.size());
    auto event = std::make_unique<Event>();
    decode_event(stored, reader, *event);
    KnownEvent known{stored.seq, event.get(), nullptr};
    known.owned = std::move(event);
    loaded.keys.insert_or_assign({stored.id, std::string(stored.key)}, std::move(known));
  }
}

}  // namespace

Head* Loaded::head(ThreadId id) {
  const auto found = heads.find(id);
  return found == heads.end() ? nullptr : &found->second;
}

bool Loaded::as_foreseen() {
  return std::all_of(foreseen.begin(), foreseen.end(), [this](const auto& one) {
    const Head* found = head(one.first);
    return found != nullptr && found->last_seq == one.second;
  });
}

void Wanted::move_no_heads() {
  for (const auto& [id, growth] : grown) threads.insert(id);
  grown.clear();
}

Version Loaded::record(const RecordName& name) const {
  const auto found = records.find(name);
  return found == records.end() ? 0 : found->second;
}

bool Wanted::only_growth() const {
  return !grown.empty() && threads.empty() && manifests.empty() && records.empty() &&
         aliases.empty() && prefixes.empty() && witnesses.empty();
}

void queue_loading(Connection& connection, const Entering& entering, const Wanted& wanted) {
  connection.queue(kBegin);
  entering.queue(connection);
  if (!wanted.grown.empty()) {
    Column ids = bigints();
    Column counts = bigints();
    Column latest = bigints();
    for (const auto& [id, growth] : wanted.grown) {
      ids.add(id.bits());
      counts.add(growth.count);
      latest.add(growth.latest);
    }
    connection.queue(kGrow, Arguments::of(ids, counts, latest, kListLagUs));
  }
  if (!wanted.threads.empty()) connection.queue(kThreads, Arguments::of(column_of(wanted.threads)));
  if (!wanted.records.empty())
    connection.queue(kRecords, columns_of(wanted.records, texts(), Column(Column::Type::kBytes)));
  if (!wanted.manifests.empty())
    connection.queue(kManifests, Arguments::of(column_of(wanted.manifests)));
  if (!wanted.keys.empty()) connection.queue(kKeys, columns_of(wanted.keys, bigints(), texts()));
  if (!wanted.aliases.empty()) {
    Column aliases = texts();
    for (const std::string& alias : wanted.aliases) aliases.add(alias);
    connection.queue(kAliases, Arguments::of(aliases));
  }
  if (!wanted.prefixes.empty())
    connection.queue(kPrefixes, columns_of(wanted.prefixes, bigints(), bigints()));
  if (!wanted.witnesses.empty()) {
    Column ids = bigints();
    Column seqs = bigints();
    for (const Witness& witness : wanted.witnesses) {
      ids.add(witness.thread.bits());
      seqs.add(witness.seq);
    }
    connection.queue(kWitnesses, Arguments::of(ids, seqs));
  }
  connection.queue(kPositions, Arguments::of(wanted.positions));
}

Loaded take_loaded(const Wanted& wanted, const std::vector<Answer>& answers) {
  Loaded loaded;
  std::size_t next = 2;  // after the beginning
  const auto each = [&](bool asked, const auto& take) {
    if (!asked) return;
    const Answer& answer = answers.at(next++);
    for (int row = 0; row < answer.rows(); ++row) take(answer, row);
  };
  each(!wanted.grown.empty(), [&](const Answer& answer, int row) {
    Head head = head_at(answer, row);
    loaded.foreseen[head.id] = head.last_seq;
    head.last_seq -= wanted.grown.at(head.id).count;
    loaded.heads.emplace(head.id, std::move(head));
  });
  each(!wanted.threads.empty(), [&](const Answer& answer, int row) {
    Head head = head_at(answer, row);
    loaded.heads.emplace(head.id, std::move(head));
  });
  each(!wanted.records.empty(), [&](const Answer& answer, int row) {
    loaded.records.emplace(RecordName(answer.bytes(row, 0), answer.bytes(row, 1)),
                           static_cast<Version>(answer.integer(row, 2)));
  });
  for (const ThreadId id : wanted.manifests) {
    if (loaded.head(id) != nullptr)
      loaded.manifests.emplace(id, tl::unexpected(manifest_damaged(id, "is missing")));
  }
  each(!wanted.manifests.empty(), [&](const Answer& answer, int row) {
    const Head* head = loaded.head(answer.thread(row, 0));
    if (head != nullptr)
      loaded.manifests.insert_or_assign(head->id, manifest_at(answer, row, 1, *head));
  });
  if (!wanted.keys.empty()) take_keys(answers.at(next++), loaded);
  each(!wanted.aliases.empty(), [&](const Answer& answer, int row) {
    loaded.aliases.emplace(answer.bytes(row, 0), answer.thread(row, 1));
  });
  each(!wanted.prefixes.empty(), [&](const Answer& answer, int row) {
    loaded.prefixes[{answer.thread(row, 0), static_cast<Seq>(answer.integer(row, 1))}] =
        answer.is_null(row, 2) ? Timestamp::kUnset : answer.integer(row, 2);
  });
  each(!wanted.witnesses.empty(), [&](const Answer& answer, int row) {
    loaded.witnesses.insert(
        {answer.thread(row, 0), static_cast<Seq>(answer.integer(row, 1)), answer.integer(row, 2)});
  });
  each(true, [&](const Answer& answer, int row) {
    loaded.positions.push_back(answer.integer(row, 0));
    loaded.server_ms = answer.integer(row, 1);
  });
  return loaded;
}

}  // namespace skein::postgres
