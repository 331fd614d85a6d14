#include "store/sqlite/checkpointer.h"

#include <utility>

#include "core/file_lock.h"
#include "core/try.h"

namespace skein::sqlite {
namespace {

constexpr int kCacheKb = 256;
// The log is emptied when it holds this many pages (64 MB). Long enough that pages which are
// written again and again are moved once, short enough that reading through it stays quick.
constexpr std::int64_t kFrames = 16384;
// What is left after so many rounds beside the writers, or is no more than so much, is moved while
// they wait: only a log without a rest can start over.
constexpr int kRounds = 3;
constexpr int kRest = 256;

}  // namespace

Result<std::unique_ptr<Checkpointer>> Checkpointer::open(const std::string& path,
                                                         const std::string& lock_path, Flush flush,
                                                         Hooks hooks) {
  SKEIN_ASSIGN(Database database, connect(path, kCacheKb, flush));
  SKEIN_ASSIGN(Fd lock_file, open_file(lock_path, O_RDWR));
  return std::unique_ptr<Checkpointer>(
      new Checkpointer(std::move(database), std::move(lock_file), std::move(hooks)));
}

Checkpointer::Checkpointer(Database database, Fd lock_file, Hooks hooks)
    : hooks_(std::move(hooks)),
      database_(std::move(database)),
      lock_file_(std::move(lock_file)),
      wake_at_(kFrames),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Checkpointer::~Checkpointer() {
  thread_.request_stop();
  thread_.join();
}

void Checkpointer::wal_grew(std::int64_t frames) {
  frames_.store(frames, std::memory_order_relaxed);
  if (frames < wake_at_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  grew_.notify_one();
}

void Checkpointer::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (grew_.wait(lock, stop, [this] { return frames_.load() >= wake_at_.load(); })) {
    lock.unlock();
    if (auto done = checkpoint(); !done) report(done.error());
    // Where a reader holds on to the log, trying again at once would not help.
    const std::int64_t now = frames_.load();
    wake_at_.store(now >= kFrames ? now + kFrames / 4 : kFrames);
    lock.lock();
  }
}

Result<void> Checkpointer::checkpoint() {
  if (flush_failed_) return {};
  for (int round = 0; round < kRounds; ++round) {
    SKEIN_ASSIGN(const Progress progress, move_frames());
    if (progress.frames - progress.moved <= kRest) break;
  }
  SKEIN_ASSIGN(const FileLock lock, FileLock::acquire(lock_file_.get(), 0, LockMode::kExclusive));
  SKEIN_ASSIGN(const Progress progress, move_frames());
  if (progress.moved == progress.frames) frames_.store(0);
  return {};
}

Result<Checkpointer::Progress> Checkpointer::move_frames() {
  Progress progress;
  const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE,
                                             &progress.frames, &progress.moved);
  if (code == SQLITE_OK || code == SQLITE_BUSY) return progress;  // busy: another process does it
  if (code == SQLITE_IOERR_FSYNC) flush_failed_ = true;
  return tl::unexpected(sqlite_error(database_.handle(), database_.path()));
}

void Checkpointer::report(const Error& error) {
  if (flush_failed_) {
    hooks_.flush_failed(error.message);
  } else if (hooks_.notice) {
    hooks_.notice({.what = "the write-ahead log could not be moved into the file: " + error.message,
                   .repair = "it is tried again; nothing is lost"});
  }
}

}  // namespace skein::sqlite
