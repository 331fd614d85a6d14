// The checksum that files of others are known by.
#pragma once

#include <string>
#include <string_view>

namespace skein {

// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace skein
