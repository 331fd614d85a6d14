// Leases as rows.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "core/sqlite.h"
#include "skein/store.h"
#include "store/lease.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

// Makes rows of the leases that were changed.
Result<void> store_leases(WriteContext& context);

// The refusal, if there is one: the token is not the current one of the thread. The outer error is
// that of storage.
Result<std::optional<Error>> refuse_fence(WriteContext& context, ThreadId id, Head& head,
                                          std::optional<LeaseToken> token);

Result<Lease> lease_thread(JobRunner& writer, const StoreOptions& options, ThreadId id,
                           std::string_view holder, std::chrono::milliseconds ttl,
                           std::optional<LeaseToken> token);

}  // namespace skein::sqlite
