// Vectors in few bytes, and an exact scan over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/embedder.h"
#include "skein/error.h"

namespace skein {

// A vector as one signed byte for each dimension and one scale for all: value = code · scale, where
// the largest code is 127 or -127. Dot products of unit vectors keep three digits.
struct VectorCode {
  float scale = 0;
  std::vector<std::int8_t> values;
};

VectorCode quantize(std::span<const float> vector);

// What is kept of a vector: the scale as four bytes, little-endian, then the codes.
std::string vector_bytes(const VectorCode& code);
// kDamaged: not the bytes of a vector of so many dimensions. A scale that is not finite is damage.
Result<VectorCode> vector_from_bytes(std::string_view bytes, std::size_t dimensions);

// A question, in finer steps than what it is compared with: that costs nothing.
struct QueryCode {
  float scale = 0;
  std::vector<std::int16_t> values;
};

QueryCode quantize_query(std::span<const float> vector);

// How a dot product is computed. All give the same number.
enum class DotKernel { kPortable, kAvx2 };
// The best that this machine has.
DotKernel best_kernel();
std::int32_t dot_product(DotKernel kernel, const std::int16_t* query, const std::int8_t* codes,
                         std::size_t dimensions);

// Vectors of equal dimensions in memory, by position: dimensions + 4 bytes each, in blocks, so that
// growing copies nothing and needs no second room.
//
// Not thread-safe while it is changed; any number of threads may scan at once.
class VectorTable {
 public:
  // At most limits::kMaxDimensions.
  explicit VectorTable(std::size_t dimensions);

  std::size_t dimensions() const { return dimensions_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const;  // of memory

  // `code` has the table's dimensions. The positions of others stay what they are.
  void append(const VectorCode& code);
  void set(std::size_t position, const VectorCode& code);
  // Forgets the last ones, and gives back their memory.
  void shrink(std::size_t size);

  VectorCode get(std::size_t position) const;
  float similarity(const QueryCode& query, std::size_t position) const;

  // similarities[i] becomes the dot product with the vector at first + i.
  void scan(const QueryCode& query, std::size_t first, std::span<float> similarities) const;

 private:
  static constexpr std::size_t kBlock = 4096;  // vectors
  struct Block {
    std::unique_ptr<float[]> scales;
    std::unique_ptr<std::int8_t[]> codes;
  };
  const std::int8_t* codes_at(std::size_t position) const;

  const std::size_t dimensions_;
  const DotKernel kernel_ = best_kernel();
  std::size_t size_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace skein
