#include "store/sqlite/check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/quote.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/sqlite/manifests.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/rows.h"

namespace skein::sqlite {
namespace {

constexpr std::size_t kStep = 1000;

constexpr char kIntegrity[] = "PRAGMA integrity_check(100)";
// count(*) would visit the pages without counting its steps.
constexpr char kCountThreads[] = "SELECT sum(1) FROM threads";
constexpr char kThreads[] = "SELECT id FROM threads WHERE id > ? ORDER BY id LIMIT ?";
constexpr char kRows[] =
    "SELECT " SKEIN_EVENT_COLUMNS " FROM events NOT INDEXED WHERE g > ? ORDER BY g LIMIT ?";
constexpr char kOrphans[] =
    "SELECT DISTINCT id FROM events INDEXED BY events_by_thread"
    " WHERE NOT EXISTS (SELECT 1 FROM threads WHERE threads.id = events.id)"
    " UNION SELECT id FROM manifests WHERE id NOT IN (SELECT id FROM threads)";
constexpr char kWrongSeqs[] =
    "SELECT DISTINCT id FROM events INDEXED BY events_by_thread"
    " WHERE seq NOT BETWEEN 1 AND 9007199254740991";
constexpr char kWrongBranches[] = "SELECT DISTINCT id FROM branches WHERE base < 0 OR base >= seq";
constexpr char kTotals[] =
    "SELECT name, status, counted, threads FROM"
    " (SELECT agent, status, sum(counted) AS counted, sum(threads) AS threads FROM"
    "  (SELECT agent, status, 1 AS counted, 0 AS threads FROM threads"
    "   UNION ALL SELECT agent, status, 0, threads FROM totals) GROUP BY agent, status)"
    " LEFT JOIN agents USING(agent) WHERE counted <> threads";
constexpr char kColumns[] =
    "SELECT agents.name, created, status, alias,"
    " (SELECT count(*) FROM changes WHERE g = made OR g = version) = 1 + (made <> version)"
    " FROM threads LEFT JOIN agents USING(agent) WHERE id = ?";
constexpr char kIsListed[] = "SELECT behind FROM listed WHERE agent = ? AND updated = ? AND id = ?";
constexpr char kHasMeta[] = "SELECT 1 FROM thread_meta WHERE key = ? AND value = ? AND id = ?";
constexpr char kRecords[] =
    "SELECT record, collection, key, version, crc, bytes,"
    " EXISTS(SELECT 1 FROM changes WHERE g = version)"
    " FROM records NOT INDEXED WHERE record > ? ORDER BY record LIMIT 100";
constexpr char kChanges[] =
    "SELECT g, kind, thread, collection, key, crc FROM changes WHERE g > ? ORDER BY g LIMIT ?";

using Sink = std::function<void(const Finding&)>;

// A table is walked in the order of its file, which may be wrong: the walk would have no end.
Result<void> advance(std::int64_t& last, std::int64_t found) {
  if (found <= last) {
    return fail(ErrorCode::kDamaged, "row " + std::to_string(found) + " is out of order");
  }
  last = found;
  return {};
}

// Statements are prepared by address, so this one is made from a fixed text. What was found by the
// indexes before may be wrong.
struct ReindexJob : Job {
  Result<void> apply(WriteContext& context) override {
    context.heads.clear();
    context.known.clear();
    return context.database.execute("REINDEX");
  }
};

struct RecountJob : Job {
  Result<void> apply(WriteContext& context) override {
    return context.database.execute(
        "DELETE FROM totals WHERE true; INSERT INTO totals(agent, status, threads)"
        " SELECT agent, status, count(*) FROM threads GROUP BY agent, status");
  }
};

class Check {
 public:
  Check(Readers& readers, Writer& writer, const CheckOptions& options, const Sink& sink)
      : readers_(readers), writer_(writer), options_(options), sink_(sink) {}

  Result<CheckSummary> run();

 private:
  // What was found is told by `tell`, outside of the snapshot: the sink may call the store.
  void found(Finding finding);
  void tell();
  // Damage that stopped it becomes a finding.
  Result<void> settle(const char* what, Result<void> done);
  // Runs the step in a snapshot, and settles it.
  Result<void> step(const char* what, const std::function<Result<void>(Database&)>& action);

  Result<void> check_structure();
  Result<void> check_rows();
  Result<void> check_threads();
  Result<void> check_thread(Database& database, ThreadId id, Seq& last_seq);
  Result<void> check_columns(Database& database, const StoredThread& thread);
  Result<void> check_events(ThreadId id, Seq last_seq);
  Result<void> check_records();
  Result<void> check_changes_table();
  Result<void> check_orphans();
  // Each thread that the query finds has `what`.
  Result<void> check_none(const char* sql, const char* what);
  Result<void> check_totals();

  Readers& readers_;
  Writer& writer_;
  const CheckOptions& options_;
  const Sink& sink_;
  CheckSummary summary_;
  std::vector<Finding> untold_;
  std::vector<std::string> structure_;  // what SQLite itself says
  bool rows_verify_ = true;
};

void Check::found(Finding finding) {
  if (finding.health == Health::kBroken) ++summary_.broken;
  if (!finding.repaired) summary_.health = std::max(summary_.health, finding.health);
  untold_.push_back(std::move(finding));
}

void Check::tell() {
  for (const Finding& finding : std::exchange(untold_, {})) {
    if (sink_) sink_(finding);
  }
}

Result<void> Check::settle(const char* what, Result<void> done) {
  const bool damaged = !done && done.error().code == ErrorCode::kDamaged;
  if (damaged) {
    found({.what = std::string(what) + ": " + done.error().message,
           .repair = "export what can be read, and import it into a new store"});
  }
  tell();
  return damaged ? Result<void>() : done;
}

Result<void> Check::step(const char* what, const std::function<Result<void>(Database&)>& action) {
  return settle(what, readers_.with<void>(action));
}

Result<void> Check::check_structure() {
  return step("the file's structure", [&](Database& database) -> Result<void> {
    SKEIN_ASSIGN(Query query, database.query(kIntegrity));
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      if (query.bytes(0) != "ok") structure_.emplace_back(query.bytes(0));
    }
  });
}

Result<void> Check::check_rows() {
  std::int64_t last = 0;
  bool more = true;
  while (more) {
    more = false;
    const std::int64_t before = last;
    SKEIN_TRY(step("the table of events", [&](Database& database) -> Result<void> {
      SKEIN_ASSIGN(Query query, database.query(kRows));
      query.bind(last, kStep);
      for (;;) {
        auto row = query.step();
        if (!row) {
          rows_verify_ = false;
          return tl::unexpected(std::move(row.error()));
        }
        if (!*row) return {};
        const EventRow event = event_row(query);
        if (!verifies(event)) rows_verify_ = false;
        SKEIN_TRY(advance(last, event.g));
        more = true;
      }
    }));
    if (last == before) break;
  }
  return {};
}

Result<void> Check::check_threads() {
  SKEIN_ASSIGN(const auto total, readers_.with<std::int64_t>([](Database& database) {
    return database.integer(kCountThreads);
  }));
  std::int64_t last = -1;
  for (bool more = true; more;) {
    std::vector<ThreadId> ids;
    SKEIN_TRY(step("the table of threads", [&](Database& database) -> Result<void> {
      SKEIN_ASSIGN(Query query, database.query(kThreads));
      query.bind(last, kStep);
      for (;;) {
        SKEIN_ASSIGN(const bool row, query.step());
        if (!row) return {};
        SKEIN_TRY(advance(last, query.integer(0)));
        ids.push_back(ThreadId::from_bits(static_cast<std::uint64_t>(last)));
      }
    }));
    more = !ids.empty();
    for (const ThreadId id : ids) {
      ++summary_.threads;
      Seq last_seq = 0;
      SKEIN_TRY(step("a thread",
                     [&](Database& database) { return check_thread(database, id, last_seq); }));
      SKEIN_TRY(settle("a thread", check_events(id, last_seq)));
      if (options_.progress)
        options_.progress(summary_.threads,
                          std::max(summary_.threads, static_cast<std::uint64_t>(total)));
    }
  }
  return {};
}

Result<void> Check::check_thread(Database& database, ThreadId id, Seq& last_seq) {
  const auto thread = load_thread(database, id);
  if (thread && !*thread) return {};  // removed meanwhile
  if (thread) {
    SKEIN_TRY(check_columns(database, **thread));
  } else if (thread.error().code == ErrorCode::kDamaged) {
    found({.thread = id,
           .what = thread.error().message,
           .repair = "its events can still be read; export them, and remove the thread"});
  } else {
    return tl::unexpected(thread.error());
  }
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  if (head) last_seq = head->last_seq;
  return {};
}

Result<void> Check::check_columns(Database& database, const StoredThread& thread) {
  const Manifest& manifest = thread.manifest;
  const ThreadId id = manifest.id;
  const auto disagrees = [&](const std::string& what) {
    found({.thread = id, .what = what + " does not agree with the manifest", .repair = "reindex"});
  };
  {
    SKEIN_ASSIGN(Query query, database.query(kColumns));
    SKEIN_ASSIGN(const bool row, query.bind(id.bits()).step());
    if (!row || query.bytes(0) != manifest.agent_id) disagrees("the agent");
    if (!row || query.integer(1) != manifest.created_at.us) disagrees("the time of creation");
    if (!row || query.integer(2) != static_cast<int>(manifest.status)) disagrees("the status");
    if (!row || query.bytes(3) != manifest.alias.value_or("")) disagrees("the alias");
    if (!row || query.integer(4) != 1) disagrees("the change feed");
  }
  {
    SKEIN_ASSIGN(Query query, database.query(kIsListed));
    query.bind(thread.head.agent, thread.head.listed, id.bits());
    SKEIN_ASSIGN(const bool listed, query.step());
    const bool behind = thread.head.updated > thread.head.listed;
    if (!listed || (behind && query.integer(0) == 0)) disagrees("the list by time of update");
  }
  for (const auto& [key, value] : scalar_members(manifest.metadata)) {
    SKEIN_ASSIGN(Query query, database.query(kHasMeta));
    SKEIN_ASSIGN(const bool there, query.bind(key, value, id.bits()).step());
    if (!there) disagrees("the index of metadata, key " + quote(key) + ",");
  }
  return {};
}

Result<void> Check::check_events(ThreadId id, Seq last_seq) {
  EventReader reader;
  Event event;
  EventChunk chunk;
  std::vector<Branch> branches;
  for (Seq next = 1; next <= last_seq;) {
    SKEIN_TRY(readers_.with<void>([&](Database& database) {
      return chunk.load(database, id, {next, last_seq}, Direction::kForward, kLastSeq);
    }));
    for (const EventRow& row : chunk.rows()) {
      decode_event(row, reader, event);
      if (const auto* bad = std::get_if<Unreadable>(&event.payload))
        found({.thread = id, .seq = row.seq, .what = bad->reason});
      if (event.base && *event.base + 1 != row.seq) branches.push_back({row.seq, *event.base});
    }
    summary_.events += chunk.rows().size();
    next += chunk.rows().size();
    tell();
  }
  SKEIN_ASSIGN(auto stored, readers_.with<std::vector<Branch>>(
                                [&](Database& database) { return load_branches(database, id); }));
  std::erase_if(stored, [&](const Branch& branch) { return branch.seq > last_seq; });
  const auto same = [](const Branch& a, const Branch& b) {
    return a.seq == b.seq && a.base == b.base;
  };
  if (!std::equal(stored.begin(), stored.end(), branches.begin(), branches.end(), same))
    found({.thread = id, .what = "the branches do not agree with the events"});
  return {};
}

Result<void> Check::check_records() {
  std::int64_t last = 0;
  for (bool more = true; more;) {
    more = false;
    SKEIN_TRY(step("the table of records", [&](Database& database) -> Result<void> {
      SKEIN_ASSIGN(Query query, database.query(kRecords));
      query.bind(last);
      for (;;) {
        SKEIN_ASSIGN(const bool row, query.step());
        if (!row) return {};
        SKEIN_TRY(advance(last, query.integer(0)));
        more = true;
        ++summary_.records;
        const std::string name =
            "record " + quote(query.bytes(2)) + " of " + std::string(query.bytes(1));
        const auto version = static_cast<Version>(query.integer(3));
        if (record_crc(query.bytes(1), query.bytes(2), version, query.bytes(5)) != query.integer(4))
          found({.what = name + " does not match its checksum"});
        else if (query.integer(6) == 0)
          found({.what = name + " is missing in the change feed"});
      }
    }));
  }
  return {};
}

Result<void> Check::check_changes_table() {
  std::int64_t last = 0;
  for (bool more = true; more;) {
    more = false;
    SKEIN_TRY(step("the change feed", [&](Database& database) -> Result<void> {
      SKEIN_ASSIGN(Query query, database.query(kChanges));
      query.bind(last, kStep);
      for (;;) {
        SKEIN_ASSIGN(const bool row, query.step());
        if (!row) return {};
        SKEIN_TRY(advance(last, query.integer(0)));
        more = true;
        if (change_at(query).crc_matches) continue;
        found({.what = "the change feed does not match its checksum at " + std::to_string(last)});
      }
    }));
  }
  return {};
}

Result<void> Check::check_none(const char* sql, const char* what) {
  return step("the list of threads", [&](Database& database) -> Result<void> {
    SKEIN_ASSIGN(Query query, database.query(sql));
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      found({.thread = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(0))),
             .what = what});
    }
  });
}

Result<void> Check::check_orphans() {
  SKEIN_TRY(
      check_none(kOrphans, "there are events or a manifest, but no thread that they belong to"));
  SKEIN_TRY(check_none(kWrongSeqs, "there are events with a seq that no event can have"));
  return check_none(kWrongBranches, "there are branches that no event can have");
}

Result<void> Check::check_totals() {
  std::vector<Finding> wrong;
  SKEIN_TRY(step("the numbers of threads", [&](Database& database) -> Result<void> {
    SKEIN_ASSIGN(Query query, database.query(kTotals));
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) return {};
      wrong.push_back({.what = "agent " + quote(query.bytes(0)) + " has " +
                               std::to_string(query.integer(2)) + " threads of status " +
                               std::to_string(query.integer(1)) + ", and not " +
                               std::to_string(query.integer(3)) + " as is written down",
                       .repair = "count them again"});
    }
  }));
  if (wrong.empty()) return {};
  RecountJob job;
  const bool repaired = options_.repair && writer_.run(job).has_value();
  for (Finding& finding : wrong) {
    finding.repaired = repaired;
    found(std::move(finding));
  }
  tell();
  return {};
}

Result<CheckSummary> Check::run() {
  SKEIN_TRY(check_structure());
  SKEIN_TRY(check_rows());
  // Indices are derived from rows: while all rows are as they were written, nothing can be lost.
  bool reindexed = false;
  if (!structure_.empty() && options_.repair && rows_verify_) {
    ReindexJob job;
    reindexed = writer_.run(job).has_value();
    const std::vector<std::string> before = std::exchange(structure_, {});
    SKEIN_TRY(check_structure());
    reindexed = reindexed && structure_.empty();
    if (structure_.empty()) structure_ = before;
  }
  for (const std::string& what : structure_) {
    found({.what = what,
           .repair = rows_verify_ ? "build the indices anew (repair)"
                                  : "export what can be read, and import it into a new store",
           .repaired = reindexed});
  }
  tell();
  SKEIN_TRY(check_threads());
  SKEIN_TRY(check_orphans());
  SKEIN_TRY(check_totals());
  SKEIN_TRY(check_records());
  SKEIN_TRY(check_changes_table());
  return summary_;
}

}  // namespace

Result<CheckSummary> check_store(Readers& readers, Writer& writer, const CheckOptions& options,
                                 const Sink& sink) {
  return Check(readers, writer, options, sink).run();
}

}  // namespace skein::sqlite
