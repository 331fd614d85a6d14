#include "store/lease.h"

#include <algorithm>

#include "core/try.h"
#include "store/checks.h"

namespace skein {

Result<Lease> change_lease(LeaseState& state, ThreadId id, std::string_view holder,
                           std::chrono::milliseconds ttl, std::optional<LeaseToken> token,
                           Clock& clock, IdSource& ids) {
  SKEIN_TRY(check_lease(holder, ttl, token));
  SKEIN_TRY(check_fence(state, id, token));
  const std::int64_t now = clock.boot_ms();
  if (token && ttl.count() == 0) {
    state = LeaseState{};
    return Lease{*token, ttl};
  }
  const bool held = state.token != 0 && state.boot_id == clock.boot_id();
  if (!token && held && state.expires_boot_ms > now) {
    return tl::unexpected(
        lease_taken(id, state.holder, std::chrono::milliseconds(state.expires_boot_ms - now)));
  }
  const LeaseToken next = token ? *token : make_lease_token(ids);
  state = LeaseState{next, std::string(holder), now + ttl.count(), clock.boot_id()};
  return Lease{next, ttl};
}

Result<void> check_fence(const LeaseState& state, ThreadId id, std::optional<LeaseToken> token) {
  if (!token || (state.token != 0 && *token == state.token)) return {};
  return tl::unexpected(stale_fence(id, *token));
}

}  // namespace skein
