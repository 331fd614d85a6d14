// The first write of a run that nothing stands in the way of: its lease, its record, and what is
// said to it, with one flush.
#pragma once

#include "runner/run_book.h"
#include "skein/runner.h"
#include "skein/store.h"

namespace skein {

// Whether a run of this kind stops those that are there.
inline bool stops_others(Multitask multitask) {
  return multitask == Multitask::kInterrupt || multitask == Multitask::kRollback;
}

// Holds only if the thread is still as it was read. Otherwise the run has the lease at most, and
// goes the long way: looks at what is open on the thread, and writes one thing after the other.
class Opening {
 public:
  // Whether a run with this request can begin so. `manifest` is the thread's, as it was read before
  // `open` was.
  static bool fits(const RunRequest& request, const Manifest& manifest,
                   const std::vector<OpenRun>& open);

  // `run` is written as one that is running since `now`. Borrows the book.
  Opening(const RunBook& book, Manifest manifest, Run run, const NewMessage& message,
          Timestamp now);

  // What is said to the run; holds only if the thread is still as it was read.
  const Append& input() const { return append_; }

  // With the lease. May be called again, when nothing came of it.
  void write(Writes& in, LeaseToken token);

  // --- What came of it, once it was flushed ---
  // The record is written, and the message is in the thread.
  bool begun() const { return said_.has_value(); }
  const Appended& message() const { return *said_; }
  const Manifest& manifest() const { return manifest_; }
  const Run& run() const { return run_; }

 private:
  const RunBook& book_;
  Manifest manifest_;
  Run run_;
  Append append_;
  std::optional<Appended> said_;
};

}  // namespace skein
