// Which threads are being worked on.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/store.h"
#include "skein/thread.h"

namespace skein {

// Those with a run that works or waits for its turn, in whatever process.
Result<std::set<ThreadId>> busy_threads(Store& store, Clock& clock);
Result<bool> is_busy(Store& store, Clock& clock, ThreadId thread);
// The id of the run that works on it; nothing: none does, though some may wait.
Result<std::optional<std::string>> run_at_work(Store& store, Clock& clock, ThreadId thread);

// How a thread's last run ended, as its manifest says: "error", "interrupted", or empty: well, or
// there was none.
std::string last_run_status(const Manifest& manifest);

// Removes the record of a run; its events stay. kNotFound; kBusy: it has not ended.
Result<void> forget_run(Store& store, Clock& clock, std::string_view run_id);

}  // namespace skein
