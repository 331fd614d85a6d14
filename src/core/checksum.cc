#include "core/checksum.h"

#include <xxhash.h>

namespace skein {

std::uint32_t checksum(std::string_view bytes, std::uint64_t seed) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed));
}

RunningChecksum::RunningChecksum() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }

void RunningChecksum::add(std::string_view bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint32_t RunningChecksum::value() const {
  return static_cast<std::uint32_t>(XXH3_64bits_digest(state_.get()));
}

void RunningChecksum::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

}  // namespace skein
