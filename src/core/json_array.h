// Takes JSON arrays apart.
#pragma once

#include <optional>
#include <vector>

#include "core/json.h"

namespace skein {

// The elements of a valid JSON array, as they stand in its text. Nothing for anything else.
std::vector<RawJson> json_elements(RawJson array);

// The text of an array as it stands; nothing, if the value is of another kind.
std::optional<RawJson> json_to_array(RawJson value);

// "[a,b]" of values that are JSON.
std::string json_array_of(const std::vector<std::string>& values);

}  // namespace skein
