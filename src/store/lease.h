// The arithmetic of leases, the same on every backend. The backend keeps the state and serialises.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skein/store.h"

namespace skein {

struct LeaseState {
  LeaseToken token = 0;  // 0: nobody holds it
  std::string holder;
  std::int64_t expires_boot_ms = 0;  // by Clock::boot_ms, within the boot below
  std::string boot_id;
};

// Takes, renews or gives back, as Store::lease says. On an error the state is unchanged.
Result<Lease> change_lease(LeaseState& state, ThreadId id, std::string_view holder,
                           std::chrono::milliseconds ttl, std::optional<LeaseToken> token,
                           Clock& clock, IdSource& ids);

// kFenced unless the token is the current one; no token passes.
Result<void> check_fence(const LeaseState& state, ThreadId id, std::optional<LeaseToken> token);

}  // namespace skein
