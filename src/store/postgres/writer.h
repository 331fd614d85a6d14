// What writes: jobs, executed many to a transaction, in one round trip or two.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/group_commit.h"
#include "skein/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/known_heads.h"
#include "store/postgres/loading.h"
#include "store/postgres/write_batch.h"

namespace skein::postgres {

// Whether a transaction whose answer was lost took effect, as far as one job can tell.
enum class Committed { kNo, kYes, kUnknown };

// A piece of writing. It decides before it writes: what it refuses, it keeps as its own answer and
// leaves nothing behind, so that its neighbours in the transaction go on.
class Job : public GroupCommit::Request {
 public:
  virtual ~Job() = default;

  // What it writes to: jobs with the same number never wait for each other's locks. None: it does
  // not matter.
  std::optional<std::uint64_t> subject;

  // Adds what it must know. Called anew for each attempt.
  virtual void want(Wanted& wanted) = 0;
  // Decides and writes; may be called again, when the transaction did not take effect. If what
  // it finds shows that it did after all, the answer of then stands. False: not in this
  // transaction, it wants something else first.
  virtual bool apply(WriteBatch& batch) = 0;
  // After an `apply` whose transaction may or may not have been committed.
  virtual Committed committed(Loaded& loaded) const = 0;

 private:
  friend class Lane;
  Result<void> outcome_;
};

// One connection, one transaction at a time. Thread-safe.
class Lane {
 public:
  // `committed` is called after each commit, from any thread. `settings` is borrowed.
  Lane(const Settings& settings, std::function<void(std::size_t jobs)> committed);

  // Returns when the job is durable, or failed. A commit whose answer was lost is looked into: it
  // is done again only if it did not take effect.
  Result<void> run(Job& job);

 private:
  using Jobs = std::vector<Job*>;

  void execute(GroupCommit::Batch& batch);
  // Sets the outcome of each; returns those that want another transaction.
  Jobs settle(const Jobs& jobs);
  Result<void> transact(const Jobs& jobs, Jobs& again);
  // One attempt. `in_doubt`: whether the one before may have been committed; set likewise.
  Result<void> attempt(const Jobs& jobs, Jobs& again, bool& in_doubt, Deadline deadline);
  // In one round trip, if the jobs only append to threads that are known. Nothing: it takes two.
  std::optional<Result<void>> append_from_memory(const Jobs& jobs, bool& in_doubt,
                                                 Deadline deadline);
  // What the jobs want to know. `may_move`: whether heads may be moved on meanwhile.
  Result<Loaded> load(const Jobs& jobs, bool may_move, Deadline deadline);
  // After an attempt that may have been committed: `done`, if it was. Neither in doubt any more.
  Result<void> resolve(const Jobs& jobs, bool& in_doubt, bool& done, Deadline deadline);
  Result<void> connect();
  // Only hints, and in transactions of their own: nobody waits for them, and they make no commits
  // wait for each other.
  void queue_hints();
  Result<void> commit(bool& in_doubt, Deadline deadline);
  // The server answers, but only with internal errors: the last one, unless its commit took effect
  // after all.
  Result<void> give_up(const Jobs& jobs, bool& in_doubt, Deadline deadline, Error error);
  // What was queued is a transaction, or the end of one.
  Result<std::vector<Answer>> finish(bool& in_doubt, Deadline deadline);
  void roll_back(Deadline deadline);

  const Settings& settings_;
  const std::function<void(std::size_t jobs)> committed_;
  const std::string channel_;
  const std::int64_t listener_class_;

  // Of whoever leads the batch:
  std::unique_ptr<Connection> connection_;
  Entering entering_;
  Failure failure_;  // of the last attempt
  KnownHeads known_;
  std::int64_t mark_;  // of the last transaction
  // Whether anybody listens for hints; looked at now and then.
  bool listened_ = true;
  bool looked_ = false;  // the answer is still to come
  std::chrono::steady_clock::time_point look_again_{};

  GroupCommit group_;
};

// Two lanes: while the server works or flushes for one, the other gathers. Between them it is as
// between two processes. Thread-safe.
class Writer {
 public:
  // As of Lane.
  Writer(const Settings& settings, const std::function<void(std::size_t jobs)>& committed);

  Result<void> run(Job& job);

 private:
  static constexpr std::size_t kLanes = 2;

  Lane lanes_[kLanes];
  std::atomic<std::uint64_t> turn_{0};  // for jobs without a subject
};

}  // namespace skein::postgres
