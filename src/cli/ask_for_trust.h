// Asking a person, at a terminal, whether they trust what a workspace wants to do.
#pragma once

#include <functional>
#include <string_view>

#include "api/trust_review.h"
#include "cli/context.h"

namespace skein {

// Prints what `pending` definitions would allow, asks, and trusts them after a yes. Only on a
// terminal; elsewhere, and when there is nothing to ask, it does nothing.
Result<void> ask_for_trust(const Settings& settings, const TrustReview& review);

// The same for one agent of the workspace, and for everything in it.
Result<void> ask_for_agent_trust(const Settings& settings, std::string_view agent_id);
Result<void> ask_for_workspace_trust(const Settings& settings);

// Whether a person can answer.
bool person_is_there();

}  // namespace skein
