#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/file.h"
#include "core/file_lock.h"
#include "core/own_folder.h"
#include "core/try.h"
#include "store/commit_counter.h"
#include "store/sqlite/appends.h"
#include "store/sqlite/check.h"
#include "store/sqlite/checkpointer.h"
#include "store/sqlite/feed.h"
#include "store/sqlite/known_records.h"
#include "store/sqlite/known_threads.h"
#include "store/sqlite/leases.h"
#include "store/sqlite/list.h"
#include "store/sqlite/log_check.h"
#include "store/sqlite/manifests.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/records.h"
#include "store/sqlite/threads.h"
#include "store/sqlite/together.h"
#include "store/sqlite/writer.h"

namespace skein {
namespace {

using namespace sqlite;

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, StoreOptions options)
      : options_(std::move(options)), readers_(std::move(path)) {}

  Result<void> open(const std::string& path);

  Result<Manifest> create(const NewThread& thread) override {
    return create_thread(*writer_, options_, thread);
  }
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override;
  Result<ThreadPage> list(const ListQuery& query) override {
    return list_threads(readers_, *known_, query, options_.notice);
  }
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    return update_thread(*writer_, options_, id, patch, options);
  }
  Result<bool> remove(ThreadId id, const UpdateOptions& options) override {
    return remove_thread(*writer_, id, options);
  }
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    return append_events(*writer_, options_, appends);
  }
  Result<void> together(const std::function<void(Writes&)>& work) override {
    return write_together(*writer_, options_, work);
  }
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    return read_events(readers_, *known_, id, range, sink);
  }
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override {
    return read_changes(readers_, *watch_, cursor, limit, wait);
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    return lease_thread(*writer_, options_, id, holder, ttl, token);
  }
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    return write_records(*writer_, writes);
  }
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    return scan_records(readers_, *known_records_, range, options_.notice);
  }
  Result<CheckSummary> check(const CheckOptions& options,
                             const std::function<void(const Finding&)>& sink) override {
    return check_store(readers_, *writer_, options, sink);
  }
  CommitSizes commit_sizes() const override { return commits_.sizes(); }

 private:
  const StoreOptions options_;
  CommitCounter commits_;
  Fd lock_file_;
  std::unique_ptr<SharedNumber> shared_number_;
  std::unique_ptr<KnownThreads> known_;
  std::unique_ptr<KnownRecords> known_records_;
  // The writer's connection is the last to close, and then clears the write-ahead log away.
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Watch> watch_;
  Readers readers_;
  std::unique_ptr<Checkpointer> checkpointer_;
};

// Where blocks are smaller than pages, SQLite's check that its shared memory has room does not see
// all of it: a full disk would meet us as a signal when a page is touched.
bool blocks_are_small(const struct statvfs& disk) {
  return disk.f_frsize < static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
}

// Refuses to open where the first pages of the shared memory have no room.
Result<void> check_room(const std::string& folder) {
  constexpr std::uint64_t kBytes = 64 << 10;
  struct statvfs disk = {};
  if (::statvfs(folder.c_str(), &disk) != 0 || !blocks_are_small(disk)) return {};
  if (disk.f_bavail * disk.f_frsize >= kBytes) return {};
  return fail(ErrorCode::kIo, folder + ": no room for the memory that processes share, at least " +
                                  std::to_string(kBytes) + " bytes");
}

// SQLite's shared memory is a mapped file that grows with the write-ahead log, and a full disk
// would meet us as a signal where its blocks are not there yet. Room for a log of 500 MB is taken
// at once, and through SQLite's own descriptor: closing another one of the same file would drop the
// locks that SQLite holds on it, and the next process would cut the file under our feet. Where it
// cannot be had, SQLite takes what it can get, unless it could not tell how much that is.
Result<void> reserve_shared_memory(const std::string& path) {
  constexpr off_t kBytes = off_t{1} << 20;
  struct stat wanted = {};
  if (::stat((path + "-shm").c_str(), &wanted) != 0) return {};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat found = {};
    if (::fstat(fd, &found) != 0 || found.st_dev != wanted.st_dev) continue;
    if (found.st_ino != wanted.st_ino) continue;
    struct statvfs disk = {};
    const int failed = ::posix_fallocate(fd, 0, kBytes);
    if (failed != 0 && ::fstatvfs(fd, &disk) == 0 && blocks_are_small(disk))
      return tl::unexpected(io_error("reserve", path + "-shm", failed));
    return {};
  }
  return {};
}

Result<void> SqliteStore::open(const std::string& path) {
  const Flush flush = options_.unsafe_no_flush ? Flush::kNever : Flush::kFull;
  const std::string lock_path = path + ".lock";
  Flusher flusher(!options_.unsafe_no_flush);
  const std::string folder = parent_folder(path);
  SKEIN_TRY(make_store_folder(folder, flusher));
  SKEIN_ASSIGN(lock_file_, open_file(lock_path, O_RDWR | O_CREAT));
  {
    SKEIN_ASSIGN(const FileLock lock, FileLock::acquire(lock_file_.get(), 0, LockMode::kExclusive));
    shared_number_ = std::make_unique<SharedNumber>(lock_file_.get());
    known_ = std::make_unique<KnownThreads>(*shared_number_);
    known_records_ = std::make_unique<KnownRecords>(*known_);
    SKEIN_TRY(check_room(folder));
    const std::optional<Finding> finding = examine_log(path);
    if (finding && options_.notice) options_.notice(*finding);
    SKEIN_ASSIGN(Database database, connect(path, 1024, flush));
    SKEIN_TRY(prepare_file(database));
  }
  SKEIN_ASSIGN(
      writer_,
      Writer::open(path, lock_file_.get(), flush, *known_, *known_records_,
                   {.committed =
                        [this](std::size_t jobs) {
                          commits_.add(jobs);
                          watch_->notify();
                        },
                    .wal_grew = [this](std::int64_t frames) { checkpointer_->wal_grew(frames); }}));
  SKEIN_ASSIGN(watch_, Watch::open(path, *shared_number_));
  // SQLite flushes the name of its log, too, but does not look at the answer.
  SKEIN_TRY(flusher.folder(folder));
  SKEIN_TRY(reserve_shared_memory(path));
  SKEIN_ASSIGN(checkpointer_,
               Checkpointer::open(
                   path, lock_path, flush,
                   {.flush_failed = [this](std::string why) { writer_->poison(std::move(why)); },
                    .notice = options_.notice}));
  return {};
}

Result<std::optional<Manifest>> SqliteStore::get(const ThreadRef& ref) {
  using Found = std::optional<Manifest>;
  if (auto known = known_->find(ref)) return known;
  const KnownThreads::Moment before = known_->now();
  auto found = readers_.with<Found>([&](Database& database) -> Result<Found> {
    std::optional<ThreadId> id = ref.id();
    if (!id) {
      SKEIN_ASSIGN(id, find_alias(database, ref.alias()));
    }
    if (!id) return std::nullopt;
    SKEIN_ASSIGN(auto thread, load_thread(database, *id));
    return thread ? Found(std::move(thread->manifest)) : std::nullopt;
  });
  if (found && *found) known_->put(**found, before);
  return found;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, StoreOptions options) {
  if (options.clock == nullptr) options.clock = &system_clock();
  if (options.ids == nullptr) options.ids = &random_ids();
  auto store = std::make_unique<SqliteStore>(path, std::move(options));
  SKEIN_TRY(store->open(path));
  return store;
}

}  // namespace skein
