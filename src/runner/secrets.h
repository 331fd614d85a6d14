// Finds what looks like a key where none may stand.
#pragma once

#include <vector>

#include "skein/engines.h"
#include "skein/json.h"

namespace skein {

// Every text in a valid JSON value that looks like a key or holds one, by the path that leads to
// it. The reasons do not repeat it.
std::vector<FieldProblem> find_secrets(const Json& json);

}  // namespace skein
