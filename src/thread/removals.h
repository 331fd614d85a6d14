// Removing a thread so that a record of it stays.
#pragma once

#include <optional>
#include <string_view>

#include "skein/retention.h"

namespace skein {

// The record first, then the thread, as long as it has the version that was looked at (kConflict,
// and no record). False: there was no such thread.
Result<bool> remove_recorded(Store& store, const Manifest& manifest, std::string_view reason,
                             Timestamp now);

// Nothing, when it went without one.
Result<std::optional<Removal>> find_removal(Store& store, ThreadId thread);

// For a thread that stays after all.
Result<void> forget_removal(Store& store, ThreadId thread);

}  // namespace skein
