// Runs that a process left behind.
#pragma once

#include "runner/parts.h"

namespace skein {

// Closes a run whose lease somebody else holds by now, by `token`: interrupted, or success where
// its response is there and only the record was missing. What it wrote stays, unless it was to be
// stopped and taken back.
Result<void> close_dead_run(const RunnerParts& parts, const OpenRun& open, LeaseToken token);

// A question that nobody will answer any more; `why` goes into the record.
Result<void> drop_question(const RunnerParts& parts, const OpenRun& open, Error why);

// Closes what was left on one thread, if its lease can be had. False: somebody holds it.
Result<bool> recover_thread(const RunnerParts& parts, ThreadId thread);

Result<Recovered> recover_all(const RunnerParts& parts);

}  // namespace skein
