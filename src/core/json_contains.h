// Whether one JSON value has another in it.
#pragma once

#include "core/json.h"

namespace skein {

// Both are valid JSON. Objects: each member of `part` is in the whole, by the same rule. Arrays:
// each element of `part` is in some element of the whole. Scalars: equal in value.
bool json_contains(RawJson whole, RawJson part);

}  // namespace skein
