// Byte pair encoding of one piece of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "thread/tokens/vocabulary.h"

namespace skein {

// Encodes pieces; keeps its buffers between calls. Not thread-safe.
class PieceEncoder {
 public:
  explicit PieceEncoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // How many tokens the piece has. With `out`, their ranks are added there.
  std::size_t encode(const char* piece, std::size_t size, std::vector<std::uint32_t>* out);

 private:
  std::size_t encode_short(const char* piece, std::size_t size, std::vector<std::uint32_t>* out);
  std::size_t encode_long(const char* piece, std::size_t size, std::vector<std::uint32_t>* out);

  const Vocabulary& vocabulary_;
  // Of a long piece: where the part after each ends, where the part before begins, and the rank of
  // each joined with the next. By the part's first byte.
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> joined_;
  std::vector<std::uint64_t> queue_;
};

}  // namespace skein
