// Whose turn it is on a thread: one run at a time, first come, first served, over all processes.
//
// Within this process runs wait in order of their ids. Between processes those that wait have
// records, and the lease decides: whoever takes it looks whether an older run of another process
// waits, and if so gives it back.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runner/live_run.h"
#include "runner/opening.h"
#include "runner/run_book.h"
#include "skein/clock.h"
#include "skein/store.h"

namespace skein {

// Thread-safe.
class Turns {
 public:
  Turns(Store& store, RunBook& book, std::chrono::milliseconds ttl)
      : store_(store), book_(book), ttl_(ttl) {}

  // The turn, if it is free; otherwise the run waits from now on, unless it may not: kBusy.
  // Any other error, such as that of an unknown thread: it does not wait. `opening`, if there is
  // one, is written with the lease, when that is free.
  Result<std::optional<Turn>> enter(const std::shared_ptr<LiveRun>& run, bool may_wait,
                                    Opening* opening);
  // Leaves the queue; a turn that it was given meanwhile is given back.
  void withdraw(LiveRun& run);
  // Lets the next one in; the lease is given back before, unless it is not held any more.
  void leave(LiveRun& run, std::optional<LeaseToken> held);

  // The lease alone, with other writes; kBusy: somebody holds it.
  Result<Lease> take(Writes& store, ThreadId thread) const;

  // Lets in who waits for other processes, where it can be.
  void look();
  // Threads on which runs of this process wait, and these runs.
  std::map<ThreadId, std::vector<std::shared_ptr<LiveRun>>> waiting() const;

  // Takes the lease of a thread, also from a process that is known to be gone. Nothing: somebody
  // holds it.
  Result<std::optional<LeaseToken>> take_lease(ThreadId thread, Opening* opening = nullptr);
  void give_back(ThreadId thread, LeaseToken token);
  // The same with other writes; kFenced: it was not held.
  static Result<void> give_back(Writes& store, ThreadId thread, LeaseToken token);
  Result<Lease> renew(ThreadId thread, LeaseToken token);

 private:
  struct Queue {
    bool busy = false;                                        // a run of this process has the turn
    bool trying = false;                                      // somebody asks the store
    std::map<std::string, std::shared_ptr<LiveRun>> waiting;  // by run id
  };

  // Asks the store for the turn of that run. Nothing: not yet.
  Result<std::optional<Turn>> attempt(ThreadId thread, std::string_view run_id, Opening* opening);
  Result<Lease> ask_for_lease(ThreadId thread, Opening* opening);
  void let_next_in(ThreadId thread);
  void forget_if_idle(ThreadId thread);  // with mutex_ held

  Store& store_;
  RunBook& book_;
  const std::chrono::milliseconds ttl_;

  mutable std::mutex mutex_;
  std::map<ThreadId, Queue> queues_;  // under mutex_
};

}  // namespace skein
