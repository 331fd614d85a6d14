#include "core/checksum.h"

#include <xxhash.h>

namespace skein {

std::uint32_t checksum(std::string_view bytes, std::uint64_t seed) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed));
}

}  // namespace skein
