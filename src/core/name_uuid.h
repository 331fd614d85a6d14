// UUIDs that are made of names, so that the same name has the same one everywhere.
#pragma once

#include <string>
#include <string_view>

namespace skein {

// Version 5 of RFC 9562. `space` is a UUID in lower case.
std::string name_uuid(std::string_view space, std::string_view name);

}  // namespace skein
