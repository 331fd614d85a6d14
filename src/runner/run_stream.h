// Listeners of a run: what is stored comes from the store, what is not from the live run.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "runner/live_run.h"
#include "runner/run_book.h"
#include "skein/run.h"

namespace skein {

// `live` is absent for runs that ended and for those of other processes.
// kInvalid: a position that no stream gave out.
Result<std::unique_ptr<RunStream>> open_run_stream(Store& store, const RunBook& book,
                                                   std::shared_ptr<LiveRun> live,
                                                   std::string_view run_id,
                                                   std::string_view position);

}  // namespace skein
