// Names of environment variables, headers and fields, and what they give away.
#pragma once

#include <string_view>

namespace skein {

// Whether a variable, header or field of that name usually holds a key or password.
bool names_secret(std::string_view name);

// Whether it can be the name of an environment variable: letters, digits and "_", not beginning
// with a digit.
bool is_variable_name(std::string_view name);

}  // namespace skein
