// Stops runs that this process does not work on.
#pragma once

#include <string_view>

#include "runner/parts.h"

namespace skein {

// As Runner::cancel, for a run that is not live here.
Result<bool> cancel_elsewhere(const RunnerParts& parts, std::string_view run_id,
                              const CancelOptions& options);

// The answer to a request that came when the run had ended: false, or kConflict where it was to be
// rolled back and is not.
Result<bool> had_ended(const Run& run, const CancelOptions& options);

Error no_such_run(std::string_view run_id);

}  // namespace skein
