// The mark that a run leaves on its thread: "runStatus" in the manifest says how the last run
// ended, unless that was well, so that threads can be listed by it.
#pragma once

#include "skein/run.h"
#include "skein/store.h"

namespace skein {

// `manifest` is as it was when the run began; nothing is written when it says the same already.
Result<void> mark_end(Writes& store, const Manifest& manifest, const Run& run, LeaseToken token);

}  // namespace skein
