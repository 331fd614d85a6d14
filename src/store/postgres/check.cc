#include "store/postgres/check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/quote.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/postgres/reads.h"
#include "store/postgres/rows.h"

namespace skein::postgres {
namespace {

constexpr std::int64_t kStep = 200;

constexpr char kCountThreads[] = "SELECT count(*) FROM skein.threads";
constexpr char kThreads[] =
    "SELECT " SKEIN_HEAD_COLUMNS
    ", m.crc, m.body, (SELECT count(*) FROM skein.changes c WHERE c.g = t.made AND c.kind = 0),"
    " coalesce((SELECT a.alias FROM skein.aliases a WHERE a.id = t.id LIMIT 1), ''),"
    " (SELECT count(*) FROM skein.thread_meta h WHERE h.id = t.id)"
    " FROM skein.threads t LEFT JOIN skein.manifests m ON m.id = t.id"
    " WHERE t.id > $1 ORDER BY t.id LIMIT $2";
constexpr char kRecords[] =
    "SELECT r.collection, r.key, r.version, r.crc, r.bytes,"
    " (SELECT count(*) FROM skein.changes c WHERE c.g = r.version AND c.kind = 4)"
    " FROM skein.records r WHERE (r.collection, r.key) > ($1::text, $2::bytea)"
    " ORDER BY r.collection, r.key LIMIT 20";
constexpr char kChanges[] =
    "SELECT g, kind, thread, collection, key, crc FROM skein.changes WHERE g > $1"
    " ORDER BY g LIMIT $2";
constexpr char kOrphans[] =
    "SELECT DISTINCT o.id FROM (SELECT id FROM skein.manifests UNION SELECT id FROM skein.branches"
    " UNION SELECT id FROM skein.events UNION SELECT id FROM skein.aliases) o"
    " WHERE NOT EXISTS (SELECT FROM skein.threads t WHERE t.id = o.id) LIMIT 1000";
static_assert(static_cast<int>(ChangeKind::kCreated) == 0);
static_assert(static_cast<int>(ChangeKind::kRecordWritten) == 4);

using Sink = std::function<void(const Finding&)>;

class Check {
 public:
  Check(Pool& pool, const CheckOptions& options, const Sink& sink)
      : pool_(pool), options_(options), sink_(sink) {}

  Result<CheckSummary> run() {
    SKEIN_TRY(check_threads());
    SKEIN_TRY(check_orphans());
    SKEIN_TRY(check_records());
    SKEIN_TRY(check_changes_table());
    return summary_;
  }

 private:
  void found(const Finding& finding) {
    if (finding.health == Health::kBroken) ++summary_.broken;
    summary_.health = std::max(summary_.health, finding.health);
    if (sink_) sink_(finding);
  }
  // Nothing of the caller's runs while a connection is taken.
  Result<Answer> ask(const char* sql, const Arguments& arguments) {
    return pool_.with<Answer>([&](Connection& connection, Deadline deadline) {
      return connection.ask(sql, arguments, deadline);
    });
  }

  Result<void> check_threads();
  void check_thread(const Answer& answer, int row);
  Result<void> check_events(const Head& head);
  Result<void> check_records();
  Result<void> check_changes_table();
  Result<void> check_orphans();

  Pool& pool_;
  const CheckOptions& options_;
  const Sink& sink_;
  CheckSummary summary_;
};

Result<void> Check::check_threads() {
  SKEIN_ASSIGN(const Answer total, ask(kCountThreads, {}));
  const auto count = static_cast<std::uint64_t>(total.integer(0, 0));
  for (std::int64_t last = -1;;) {
    SKEIN_ASSIGN(const Answer threads, ask(kThreads, Arguments::of(last, kStep)));
    for (int row = 0; row < threads.rows(); ++row) {
      ++summary_.threads;
      last = threads.integer(row, 0);
      check_thread(threads, row);
      SKEIN_TRY(check_events(head_at(threads, row)));
      if (options_.progress) options_.progress(summary_.threads, std::max(summary_.threads, count));
    }
    if (threads.rows() < kStep) return {};
  }
}

void Check::check_thread(const Answer& answer, int row) {
  const Head head = head_at(answer, row);
  const auto manifest = manifest_at(answer, row, kHeadColumns, head);
  if (!manifest) {
    found({.thread = head.id,
           .what = manifest.error().message,
           .repair = "its events can still be read; export them, and remove the thread"});
    return;
  }
  const auto disagrees = [&](const std::string& what) {
    found({.thread = head.id, .what = what + " does not agree with the manifest"});
  };
  const int rest = kHeadColumns + 2;
  if (head.agent != manifest->agent_id) disagrees("the agent");
  if (head.created != manifest->created_at.us) disagrees("the time of creation");
  if (head.status != static_cast<int>(manifest->status)) disagrees("the status");
  if (head.listed > head.updated || head.listed + kListLagUs < head.updated)
    disagrees("the list by time of update");
  if (answer.integer(row, rest) != 1) disagrees("the change feed");
  if (answer.bytes(row, rest + 1) != manifest->alias.value_or("")) disagrees("the alias");
  const auto members = scalar_members(manifest->metadata).size();
  if (answer.integer(row, rest + 2) != static_cast<std::int64_t>(members))
    disagrees("the index of metadata");
}

Result<void> Check::check_events(const Head& head) {
  EventReader reader;
  Event event;
  EventChunk chunk;
  std::vector<Branch> branches;
  for (Seq next = 1; next <= head.last_seq;) {
    const auto there = pool_.with<bool>([&](Connection& connection, Deadline deadline) {
      return chunk.load(connection, head.id, {next, head.last_seq}, Direction::kForward, kLastSeq,
                        deadline);
    });
    if (!there && there.error().code == ErrorCode::kDamaged) {
      found({.thread = head.id, .what = there.error().message});
      return {};
    }
    SKEIN_TRY(there);
    if (!*there) return {};  // removed meanwhile
    for (const EventRow& row : chunk.rows()) {
      decode_event(row, reader, event);
      if (const auto* bad = std::get_if<Unreadable>(&event.payload))
        found({.thread = head.id, .seq = row.seq, .what = bad->reason});
      if (event.base && *event.base + 1 != row.seq) branches.push_back({row.seq, *event.base});
    }
    summary_.events += chunk.rows().size();
    next += chunk.rows().size();
  }
  SKEIN_ASSIGN(auto stored,
               pool_.with<std::vector<Branch>>([&](Connection& connection, Deadline deadline) {
                 return load_branches(connection, head.id, deadline);
               }));
  std::erase_if(stored, [&](const Branch& branch) { return branch.seq > head.last_seq; });
  const auto same = [](const Branch& a, const Branch& b) {
    return a.seq == b.seq && a.base == b.base;
  };
  if (!std::equal(stored.begin(), stored.end(), branches.begin(), branches.end(), same))
    found({.thread = head.id, .what = "the branches do not agree with the events"});
  return {};
}

Result<void> Check::check_orphans() {
  SKEIN_ASSIGN(const Answer orphans, ask(kOrphans, {}));
  for (int row = 0; row < orphans.rows(); ++row)
    found({.thread = orphans.thread(row, 0),
           .what = "there are events or a manifest, but no thread that they belong to"});
  return {};
}

Result<void> Check::check_records() {
  std::string collection;
  std::string key;
  for (;;) {
    SKEIN_ASSIGN(const Answer records,
                 ask(kRecords, Arguments::of(std::string_view(collection), std::string_view(key))));
    for (int row = 0; row < records.rows(); ++row) {
      ++summary_.records;
      collection = records.bytes(row, 0);
      key = records.bytes(row, 1);
      const std::string name = "record " + quote(key) + " of " + collection;
      const auto version = static_cast<Version>(records.integer(row, 2));
      if (record_crc(collection, key, version, records.bytes(row, 4)) != records.integer(row, 3))
        found({.what = name + " does not match its checksum"});
      else if (records.integer(row, 5) == 0)
        found({.what = name + " is missing in the change feed"});
    }
    if (records.rows() == 0) return {};
  }
}

Result<void> Check::check_changes_table() {
  for (std::int64_t last = 0;;) {
    SKEIN_ASSIGN(const Answer changes, ask(kChanges, Arguments::of(last, kStep)));
    for (int row = 0; row < changes.rows(); ++row) {
      const ChangeRow change = change_at(changes, row);
      last = change.g;
      if (!change.crc_matches)
        found({.what = "the change feed does not match its checksum at " + std::to_string(last)});
    }
    if (changes.rows() < kStep) return {};
  }
}

}  // namespace

Result<CheckSummary> check_store(Pool& pool, const CheckOptions& options, const Sink& sink) {
  return Check(pool, options, sink).run();
}

}  // namespace skein::postgres
