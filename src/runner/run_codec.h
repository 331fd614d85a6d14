// Runs as JSON, and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skein/run.h"
#include "skein/thread_manager.h"

namespace skein {

// What to_json(Run) made. kDamaged: it did not.
Result<Run> parse_run(std::string_view json);

// metadata.runId of an event; empty: it is of no run.
std::string run_of(const Event& event);

}  // namespace skein
