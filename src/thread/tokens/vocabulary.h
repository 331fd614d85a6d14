// The tokens of o200k_base and their ranks, built into the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "thread/tokens/vocabulary_format.h"

namespace skein {

class Vocabulary {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  static const Vocabulary& o200k_base();

  // The rank of the token with exactly these bytes; kNone if there is none.
  std::uint32_t rank(const char* bytes, std::size_t size) const {
    if (size > longest_) return kNone;
    const std::uint64_t hash = token_hash(bytes, size);
    const std::uint32_t tag = slot_tag(hash);
    const std::uint32_t mask = (1U << slot_bits_) - 1;
    for (std::uint32_t at = slot_index(hash, slot_bits_);; at = (at + 1) & mask) {
      const std::uint32_t slot = slots_[at];
      if (slot == 0) return kNone;
      if ((slot & ~kRankMask) != tag) continue;
      const std::uint32_t rank = (slot & kRankMask) - 1;
      const std::uint32_t begin = offsets_[rank];
      if (offsets_[rank + 1] - begin == size && std::memcmp(bytes_ + begin, bytes, size) == 0) {
        return rank;
      }
    }
  }

 private:
  explicit Vocabulary(const unsigned char* image);

  std::uint32_t longest_;
  std::uint32_t slot_bits_;
  const std::uint32_t* offsets_;
  const std::uint32_t* slots_;
  const char* bytes_;
};

}  // namespace skein
