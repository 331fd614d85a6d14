// Leases, in the rows of their threads.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "skein/store.h"
#include "store/postgres/writer.h"

namespace skein::postgres {

// Time is the server's, so that machines need not agree on theirs; or that of a clock other than
// the system's, when the store was given one.
Result<Lease> lease_thread(Writer& writer, const StoreOptions& options, ThreadId id,
                           std::string_view holder, std::chrono::milliseconds ttl,
                           std::optional<LeaseToken> token);

}  // namespace skein::postgres
