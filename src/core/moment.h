// Points in time as people write them.
#pragma once

#include <string_view>

#include "skein/clock.h"

namespace skein {

// ISO 8601, a date alone (its first moment in UTC), or how long before `now`: "7d", "12h", "30m".
// kInvalid names the value.
Result<Timestamp> parse_moment(std::string_view text, Timestamp now);

}  // namespace skein
