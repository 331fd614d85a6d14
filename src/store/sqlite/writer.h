// The one writer of this process: a queue of jobs, executed many to a transaction.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/file_lock.h"
#include "core/group_commit.h"
#include "core/sqlite.h"
#include "skein/clock.h"
#include "skein/store.h"
#include "store/lease.h"
#include "store/sqlite/heads.h"
#include "store/sqlite/known_records.h"
#include "store/sqlite/known_threads.h"
#include "store/sqlite/schema.h"

namespace skein::sqlite {

// A lease that a transaction takes, renews or gives back. It becomes a row only when the
// transaction ends: many are given back in the one that took them.
struct ChangedLease {
  LeaseState state{};
  bool has_row = false;
};

// What a job works with, inside the transaction.
struct WriteContext {
  Database& database;
  KnownThreads& known;
  HeadCache heads;
  std::int64_t last_g = 0;
  std::map<ThreadId, ChangedLease> leases{};
  std::vector<ThreadChange> changes{};
  std::vector<RecordChange> record_changes{};

  std::int64_t next_g() { return ++last_g; }
  // To be told to whoever knows manifests.
  void note(const EventRow& row, std::optional<Seq> base);
  void note(const Manifest& manifest);
  void note_removal(ThreadId id);
};

// A piece of writing. It decides before it writes: what it refuses, it keeps as its own answer and
// leaves nothing behind, so that its neighbours in the transaction go on.
class Job : public GroupCommit::Request {
 public:
  virtual ~Job() = default;
  // An error means that storage failed, and takes the transaction with it; the job may then be
  // applied again, alone. Its answer counts only after the commit.
  virtual Result<void> apply(WriteContext& context) = 0;

 private:
  friend class Writer;
  Result<void> outcome_;
};

// Whoever has jobs done.
class JobRunner {
 public:
  virtual ~JobRunner() = default;
  virtual Result<void> run(Job& job) = 0;
};

// Thread-safe.
class Writer final : public JobRunner {
 public:
  struct Hooks {
    std::function<void(std::size_t jobs)> committed;    // after each commit, from any thread
    std::function<void(std::int64_t frames)> wal_grew;  // frames in the write-ahead log, likewise
  };

  // `lock_fd` is borrowed: other processes are kept out by its first byte. So is what is known.
  static Result<std::unique_ptr<Writer>> open(const std::string& path, int lock_fd, Flush flush,
                                              KnownThreads& known, KnownRecords& known_records,
                                              Hooks hooks);
  ~Writer() override;

  // Returns when the job is durable, or failed. kIo also when another process keeps the lock for
  // too long; one job then waits on, until it has it.
  Result<void> run(Job& job) override;

  // From now on every write fails: a flush failed, and what is on disk is not known.
  void poison(std::string reason);
  bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }

 private:
  Writer(Database database, int lock_fd, KnownThreads& known, KnownRecords& known_records,
         Hooks hooks);

  using Requests = std::span<GroupCommit::Request* const>;

  void execute(GroupCommit::Batch& batch);
  // `more` is called until it returns none.
  Result<void> transact(Requests jobs, const std::function<Requests()>& more);
  Result<void> begin();
  Result<void> commit();
  void roll_back();
  Error poisoned_error() const;
  Error locked_out_error() const;

  const int lock_fd_;
  KnownThreads& known_;
  KnownRecords& known_records_;
  const Hooks hooks_;

  std::atomic<bool> poisoned_{false};
  mutable std::mutex poison_mutex_;
  std::string poison_reason_;  // under poison_mutex_

  // Of whoever leads the batch:
  Database database_;
  WriteContext context_;
  std::int64_t data_version_ = -1;

  GroupCommit group_;
};

}  // namespace skein::sqlite
