// Asking a person, at a terminal, whether they trust what a workspace wants to do.
#pragma once

#include <string_view>

#include "cli/context.h"

namespace skein {

// The settings of a command that starts agents. On a terminal, asks about what is not trusted
// before anything in the workspace counts: the agent with the members of the configuration, or
// everything, records of the store included. Then as Context::settings(): without a yes, what was
// asked about stays inactive, and an untrusted store is refused.
tl::expected<Settings, Failure> settings_for_agent(Context& context, std::string_view agent_id);
tl::expected<Settings, Failure> settings_for_all_agents(Context& context);

// Whether a person can answer.
bool person_is_there();

}  // namespace skein
