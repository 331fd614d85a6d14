// Edits JSON objects that people wrote: the order of members and the spelling of values stay.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/error.h"

namespace skein {

// The names that lead from an object to a value inside it.
using JsonPath = std::vector<std::string>;

// "limits.turns"; a backslash takes the next character as it is, such as a dot in a name. kInvalid:
// a name is empty.
Result<JsonPath> parse_json_path(std::string_view text);

// All of these take valid JSON and a path with at least one name.

// Nothing: there is no such value.
std::optional<std::string> json_at(RawJson object, const JsonPath& path);
// The object with that value; objects on the way are created. kInvalid: something on the way is not
// an object.
Result<std::string> json_with(RawJson object, const JsonPath& path, RawJson value);
// The object without that value; unchanged if there is none.
std::string json_without(RawJson object, const JsonPath& path);

// The value that was typed: JSON if it is JSON, else a string of it.
Json json_of_typed(std::string_view text);

// Two spaces a level, one member a line; arrays of numbers and short texts stay on one line.
std::string indented_json(RawJson value);

}  // namespace skein
