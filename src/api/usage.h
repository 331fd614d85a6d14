// What runs cost, as the faces tell it.
#pragma once

#include <optional>
#include <string>

#include "skein/usage.h"

namespace skein {

// The word for what rows are added up by: "agent", "day", "model", "thread".
const char* to_string(UsageBy by);

// {"rows":[{"agent":…,"runs":N,"inputTokens":N,…}],"all":{…}} on one line; rows of deleted threads
// have "gone". With a split rows have that, too: {"day":…,"model":…}.
std::string usage_json(const UsageReport& report, UsageBy by, std::optional<UsageBy> split = {});

// The reports of several agents as one.
UsageReport merged(const std::vector<UsageReport>& reports);

}  // namespace skein
