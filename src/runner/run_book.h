// The records of runs: all of them in `runs`, those that are open in `runs_open` too, so that what
// waits, runs, or was left behind by a process that died is found without reading the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/record_signer.h"
#include "skein/run.h"
#include "skein/runner.h"
#include "skein/store.h"

namespace skein {

// A run that somebody still has to do with.
struct OpenRun {
  enum class State {
    kPending,   // waits its turn
    kRunning,   // holds the thread's lease, by `token`
    kQuestion,  // waits for a person
    kEffects,   // ended, with effects to be done
  };

  State state = State::kPending;
  std::string run_id;
  ThreadId thread;
  LeaseToken token = 0;
  std::string process;        // whose it is
  std::int64_t until_ms = 0;  // wall clock: its process promised to say by then that it lives
  std::string key;
  Version version = 0;
  bool counts = true;  // false: its entry is not signed, and nothing may be done because of it

  bool at_work() const { return state == State::kPending || state == State::kRunning; }
};

// A run as its record has it.
struct KnownRun {
  Run run;
  Version version = 0;
  bool counts = true;  // false: it is open, and its record is not signed
};

// Thread-safe, as the store is.
class RunBook {
 public:
  // `process` is whose runs these are. Without a signer all records count. With one, entries of
  // open runs and the records of those runs are signed as they are written.
  RunBook(Store& store, Clock& clock, std::string process,
          std::shared_ptr<const RecordSigner> signer = nullptr)
      : store_(store), clock_(clock), process_(std::move(process)), signer_(std::move(signer)) {}

  const std::string& process() const { return process_; }
  bool is_ours(const OpenRun& open) const { return open.process == process_; }
  // Whether its process is known to be gone.
  bool is_gone(const OpenRun& open) const;
  // The same, or it broke its promise.
  bool is_left(const OpenRun& open) const;

  Result<std::optional<Run>> find(std::string_view run_id) const;
  Result<std::optional<KnownRun>> find_known(std::string_view run_id) const;
  // To close it: a run whose record is not signed comes without its question and its effects, so
  // that nothing is done, or signed, because of them.
  Result<std::optional<Run>> find_to_close(std::string_view run_id) const;
  // kConflict: one of the open runs of a thread does not count, so that nobody can tell whose turn
  // it is.
  Result<void> check_signed(const std::vector<OpenRun>& open) const;
  // kConflict: that run does not count.
  Error inert(std::string_view run_id) const;
  // Closes a run that does not count as interrupted, without any of its effects.
  Result<void> discard(Run run, const OpenRun& open);
  Result<std::vector<Run>> list(const RunQuery& query) const;
  Result<std::vector<OpenRun>> open_of(ThreadId thread) const;
  Result<std::vector<OpenRun>> all_open() const;
  // The entry of one run; nothing, when it is not open.
  Result<std::optional<OpenRun>> find_open(std::string_view run_id) const;

  // --- Without the lease ---
  // A run that waits; answers the version of its entry. kConflict: another run has its id.
  Result<Version> put_pending(const Run& run, std::chrono::milliseconds promise);
  // Says that it still waits. kConflict: somebody closed it.
  Result<Version> renew_pending(const Run& run, Version version, std::chrono::milliseconds promise);
  // The end of a run that nobody works on: one that waited, or asked. kConflict: it moved on. With
  // effects left to do, they become ours.
  Result<void> close_unheld(const Run& run, const OpenRun& open);
  // The same for a run of ours that waited, whose promise may be renewed at the same time. One that
  // began is left to whoever has the lease.
  Result<void> close_waiting(const Run& run);
  // Takes effects over from a process that died. kConflict: another one did.
  Result<void> claim_effects(const OpenRun& open);
  // Effects are done. Merges with what others wrote into the record.
  Result<void> effects_done(std::string_view run_id);

  // The record of a run that ended. kNotFound; kBusy: it has not.
  Result<void> forget(std::string_view run_id);

  // --- With it ---
  // From waiting, by the version of its entry, or from nothing to running. kConflict: somebody
  // closed it while it waited; or another run has its id.
  Result<void> begin(Writes& store, const Run& run, LeaseToken token,
                     std::optional<Version> waiting) const;
  // From nothing to running, on a thread that has no entry of a running one. kConflict: it has, or
  // another run has its id.
  Result<void> begin_first(Writes& store, const Run& run, LeaseToken token) const;
  // Undoes that: back to nothing.
  Result<void> take_back(Writes& store, const Run& run, LeaseToken token) const;
  // The end, or a question; with the usage. `heard`: the request to stop it goes. Otherwise there
  // must be none: kConflict.
  Result<void> finish(Writes& store, const Run& run, LeaseToken token, bool heard) const;
  // The same as finish() for a thread that is gone, with its leases.
  Result<void> finish_unfenced(const Run& run);
  // A record that is there. kConflict: it was deleted, or changed, meanwhile.
  Result<void> put(Writes& store, const KnownRun& known, LeaseToken token) const;
  // An entry whose record is not there.
  Result<void> forget_running(const OpenRun& open, LeaseToken token);

  // --- Requests to whoever has the run, or closes it ---
  // `roll_back`: and to be taken back. Such a request is not replaced by one without, and stays
  // until the run is closed: whoever hears of it may die before that.
  Result<void> ask_to_stop(std::string_view run_id, bool roll_back);
  // The same, `roll_back`, for a run that is open. False: it has ended. Of this request and the end
  // of the run one is always first: an end that does not know of it is refused (finish()).
  Result<bool> ask_to_roll_back(std::string_view run_id);
  Result<std::vector<Record>> stop_requests() const;
  // Nothing: nobody asked, or it was heard.
  Result<std::optional<Record>> stop_request(std::string_view run_id) const;
  // Unless it was replaced meanwhile.
  Result<void> forget_stop_request(const Record& request);

 private:
  Result<RecordWrite> run_write(const Run& run, std::optional<Version> version = {}) const;
  Result<RecordWrite> new_run_write(const Run& run) const { return run_write(run, Version{0}); }
  Result<RecordWrite> open_write(std::string key, std::string json,
                                 std::optional<Version> version = {}) const;
  RecordWrite stop_write(std::string_view run_id, bool roll_back) const;
  Result<RecordWrite> running_write(const Run& run, LeaseToken token) const;
  Result<std::vector<OpenRun>> scan_open(std::string_view prefix) const;
  std::string open_json(const Run& run, OpenRun::State state, LeaseToken token,
                        std::chrono::milliseconds promise) const;
  Result<void> add_end_writes(const Run& run, std::vector<RecordWrite>& writes) const;
  // Those of a run that is written when it has ended.
  Result<std::vector<RecordWrite>> finish_writes(const Run& run, bool heard) const;

  Store& store_;
  Clock& clock_;
  const std::string process_;
  const std::shared_ptr<const RecordSigner> signer_;
};

// Of a request to stop a run.
bool asks_to_roll_back(const Record& request);

// Whether somebody may still act because of its record: it has not ended, asks, or has effects
// left.
bool is_open(const Run& run);

}  // namespace skein
