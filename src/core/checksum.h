// The checksum that every event, manifest and record that we write carries.
#pragma once

#include <cstdint>
#include <string_view>

namespace skein {

// Chain pieces by handing the result on as the seed.
std::uint32_t checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace skein
