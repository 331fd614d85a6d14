#include "store/sqlite/writer.h"

#include <utility>
#include <vector>

#include "core/sqlite_gather.h"
#include "core/try.h"
#include "store/sqlite/leases.h"

namespace skein::sqlite {
namespace {

constexpr int kCacheKb = 24 * 1024;
// For another process that writes. Longer than any of them should take.
constexpr std::chrono::seconds kPatience{30};

constexpr char kBegin[] = "BEGIN IMMEDIATE";
constexpr char kCommit[] = "COMMIT";
constexpr char kDataVersion[] = "PRAGMA data_version";
// Places of the feed stay far below the largest number.
constexpr std::int64_t kMaxG = std::int64_t{1} << 53;
constexpr char kLastG[] =
    "SELECT max(ifnull((SELECT max(g) FROM events), 0), ifnull((SELECT max(g) FROM changes), 0))";

int on_wal(void* hook, sqlite3* /*database*/, const char* /*name*/, int frames) {
  (*static_cast<const std::function<void(std::int64_t)>*>(hook))(frames);
  return SQLITE_OK;
}

// Whether the failure leaves us not knowing what is on disk. A full disk does not: SQLite found out
// when it wrote, before it flushed, and the next transaction overwrites what it left.
bool loses_track(int code) {
  if ((code & 0xff) != SQLITE_IOERR) return false;
  return code != SQLITE_IOERR_SHMSIZE && code != SQLITE_IOERR_SHMMAP && code != SQLITE_IOERR_NOMEM;
}

bool is_flush(int code) { return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC; }

}  // namespace

void WriteContext::note(const EventRow& row, std::optional<Seq> base) {
  changes.push_back({.id = row.id, .last_seq = row.seq, .updated = row.updated, .base = base});
  if (known.has_events(row.id)) {
    changes.back().event = std::make_shared<const RecentEvents::Kept>(row);
  }
}

void WriteContext::note(const Manifest& manifest) {
  changes.push_back({.id = manifest.id, .manifest = std::make_unique<Manifest>(manifest)});
}

void WriteContext::note_removal(ThreadId id) { changes.push_back({.id = id, .removed = true}); }

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path, int lock_fd, Flush flush,
                                             KnownThreads& known, KnownRecords& known_records,
                                             Hooks hooks) {
  SKEIN_ASSIGN(Database database,
               connect(path, kCacheKb, flush, flush == Flush::kFull ? gathering_vfs() : nullptr));
  std::unique_ptr<Writer> writer(
      new Writer(std::move(database), lock_fd, known, known_records, std::move(hooks)));
  return writer;
}

Writer::Writer(Database database, int lock_fd, KnownThreads& known, KnownRecords& known_records,
               Hooks hooks)
    : lock_fd_(lock_fd),
      known_(known),
      known_records_(known_records),
      hooks_(std::move(hooks)),
      database_(std::move(database)),
      context_{.database = database_, .known = known_, .heads = {}, .last_g = 0},
      group_({.patience = kPatience}, [this](GroupCommit::Batch& batch) { execute(batch); }) {
  sqlite3_wal_hook(database_.handle(), on_wal,
                   const_cast<std::function<void(std::int64_t)>*>(&hooks_.wal_grew));
}

Writer::~Writer() {
  // After a failed flush, closing must not flush again and believe the answer.
  database_.keep_log_on_close(poisoned());
}

Result<void> Writer::run(Job& job) {
  if (poisoned()) return tl::unexpected(poisoned_error());
  if (!group_.submit(job)) return tl::unexpected(locked_out_error());
  return std::move(job.outcome_);
}

void Writer::execute(GroupCommit::Batch& batch) {
  std::vector<std::size_t> committed;  // jobs of each transaction
  {
    const auto lock = FileLock::acquire(lock_fd_, 0, LockMode::kExclusive);
    const Requests first = batch.next();
    const auto done = lock ? transact(first, [&] { return batch.next(); })
                           : Result<void>(tl::unexpected(lock.error()));
    const bool alone = !done && done.error().code == ErrorCode::kDamaged && batch.all().size() > 1;
    if (done) committed.push_back(batch.all().size());
    for (GroupCommit::Request* const& job : batch.all()) {
      // One of them met damage; the others must not suffer for it.
      auto& outcome = static_cast<Job*>(job)->outcome_;
      outcome = alone ? transact({&job, 1}, [] { return Requests(); }) : done;
      if (alone && outcome) committed.push_back(1);
    }
  }
  if (hooks_.committed) {
    for (const std::size_t jobs : committed) hooks_.committed(jobs);
  }
}

Result<void> Writer::transact(Requests jobs, const std::function<Requests()>& more) {
  if (poisoned()) return tl::unexpected(poisoned_error());
  SKEIN_TRY(known_.begin());
  context_.leases.clear();
  context_.changes.clear();
  context_.record_changes.clear();
  auto done = [&]() -> Result<void> {
    SKEIN_TRY(begin());
    for (; !jobs.empty(); jobs = more()) {
      for (GroupCommit::Request* job : jobs) SKEIN_TRY(static_cast<Job*>(job)->apply(context_));
    }
    SKEIN_TRY(store_leases(context_));
    known_.doubt(context_.changes);
    known_records_.doubt(context_.record_changes);
    SKEIN_TRY(commit());
    known_.apply();
    known_records_.apply(context_.record_changes);
    return {};
  }();
  // A large transaction writes, and may flush, before its commit.
  if (!done && is_flush(database_.last_code())) poison(done.error().message);
  if (!done) roll_back();
  known_.end();
  return done;
}

Result<void> Writer::begin() {
  SKEIN_ASSIGN(Query begin, database_.query(kBegin));
  SKEIN_TRY(begin.run());
  SKEIN_ASSIGN(const auto version, database_.integer(kDataVersion));
  if (version == data_version_) return {};
  context_.heads.clear();
  known_.clear();
  SKEIN_ASSIGN(const auto last_g, database_.integer(kLastG));
  if (last_g > kMaxG) {
    return fail(ErrorCode::kDamaged,
                database_.path() + ": a row has the place " + std::to_string(last_g) +
                    " in the change feed, which cannot be right, and nothing can follow it. Export "
                    "what can be read, and import it into a new store");
  }
  context_.last_g = last_g;
  data_version_ = version;
  return {};
}

Result<void> Writer::commit() {
  SKEIN_ASSIGN(Query commit, database_.query(kCommit));
  auto done = commit.run();
  if (!done && loses_track(database_.last_code())) poison(done.error().message);
  return done;
}

void Writer::roll_back() {
  data_version_ = -1;  // what we remember may be of what was just undone
  known_.clear();
  known_records_.clear();
  if (sqlite3_get_autocommit(database_.handle()) != 0) return;
  if (auto undone = database_.execute("ROLLBACK"); !undone) poison(undone.error().message);
}

void Writer::poison(std::string reason) {
  const std::lock_guard lock(poison_mutex_);
  if (poisoned()) return;
  poison_reason_ = std::move(reason);
  poisoned_.store(true, std::memory_order_release);
}

Error Writer::locked_out_error() const {
  return {ErrorCode::kIo, "nothing was written: another process has held the lock " +
                              database_.path() + ".lock for " + std::to_string(kPatience.count()) +
                              " s"};
}

Error Writer::poisoned_error() const {
  const std::lock_guard lock(poison_mutex_);
  return {
      ErrorCode::kIo,
      "writes are refused until the store is opened again, because one failed: " + poison_reason_};
}

}  // namespace skein::sqlite
