// How the vocabulary lies in the program: a hash table that is used as it is, so that nothing needs
// to be built when the program starts. tools/make_vocabulary.cc writes it at build time.
//
//   header, then u32 offsets[tokens + 1], then u32 slots[1 << slot_bits], then the tokens' bytes
//
// Token r has the bytes offsets[r] … offsets[r + 1]. A slot is 0, or r + 1 in its low bits and a
// part of the hash above; a token is in the first free slot at or after its hash. Little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace skein {

struct VocabularyHeader {
  char magic[8];
  std::uint32_t tokens;
  std::uint32_t slot_bits;
  std::uint32_t bytes;
  std::uint32_t longest;  // bytes of the longest token
};

inline constexpr char kVocabularyMagic[8] = {'s', 'k', 'e', 'i', 'n', 'b', 'p', '1'};
inline constexpr std::uint32_t kRankBits = 18;
inline constexpr std::uint32_t kRankMask = (1U << kRankBits) - 1;

inline std::uint64_t load_bytes(const char* from, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, size);
  return word;
}

inline std::uint64_t token_hash(const char* bytes, std::size_t size) {
  constexpr std::uint64_t kMultiply = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = size * kMultiply;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kMultiply;
    hash ^= hash >> 29;
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) mix(load_bytes(bytes + at, 8));
    mix(load_bytes(bytes + size - 8, 8));
  } else if (size >= 4) {
    mix(load_bytes(bytes, 4) | load_bytes(bytes + size - 4, 4) << 32);
  } else if (size > 0) {
    mix(static_cast<unsigned char>(bytes[0]) | static_cast<unsigned char>(bytes[size / 2]) << 8 |
        static_cast<unsigned char>(bytes[size - 1]) << 16);
  }
  return hash * kMultiply;
}

inline std::uint32_t slot_tag(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 50) << kRankBits;
}

inline std::uint32_t slot_index(std::uint64_t hash, std::uint32_t slot_bits) {
  return static_cast<std::uint32_t>(hash >> 20) & ((1U << slot_bits) - 1);
}

}  // namespace skein
