// What changes between two texts, for people.
#pragma once

#include <string>
#include <string_view>

namespace skein {

// The lines of both with "-" and "+" before those that only one of them has, and up to three common
// ones around them. Empty for equal texts.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace skein
