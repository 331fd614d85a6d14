#include "recall/vectors.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace skein {
namespace {

// Of a query. With limits::kMaxDimensions codes of ±127 the sum still fits 32 bits.
constexpr std::int32_t kQueryRange = 2047;
static_assert(limits::kMaxDimensions * kQueryRange * 127 <= INT32_MAX);
static_assert(std::endian::native == std::endian::little);

// Codes within ±range, and what one step of them is worth.
template <class Code>
float encode(std::span<const float> vector, std::int32_t range, std::vector<Code>& codes) {
  float largest = 0;
  for (const float value : vector) largest = std::max(largest, std::fabs(value));
  codes.assign(vector.size(), 0);
  if (largest == 0 || !std::isfinite(largest)) return 0;
  const float steps = static_cast<float>(range) / largest;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    codes[i] = static_cast<Code>(
        std::clamp(static_cast<std::int32_t>(std::lrintf(vector[i] * steps)), -range, range));
  }
  return largest / static_cast<float>(range);
}

std::int32_t dot_portable(const std::int16_t* query, const std::int8_t* codes,
                          std::size_t dimensions) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < dimensions; ++i) sum += std::int32_t{query[i]} * codes[i];
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::int32_t dot_avx2(const std::int16_t* query,
                                                      const std::int8_t* codes,
                                                      std::size_t dimensions) {
  const auto products = [&](std::size_t at) __attribute__((target("avx2"), always_inline)) {
    const __m128i narrow = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + at));
    const __m256i wide = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(query + at));
    return _mm256_madd_epi16(_mm256_cvtepi8_epi16(narrow), wide);
  };
  __m256i even = _mm256_setzero_si256();
  __m256i odd = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 32 <= dimensions; i += 32) {
    even = _mm256_add_epi32(even, products(i));
    odd = _mm256_add_epi32(odd, products(i + 16));
  }
  alignas(32) std::int32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi32(even, odd));
  std::int32_t sum = 0;
  for (const std::int32_t lane : lanes) sum += lane;
  return sum + dot_portable(query + i, codes + i, dimensions - i);
}
#endif

}  // namespace

VectorCode quantize(std::span<const float> vector) {
  VectorCode code;
  code.scale = encode(vector, 127, code.values);
  return code;
}

QueryCode quantize_query(std::span<const float> vector) {
  QueryCode code;
  code.scale = encode(vector, kQueryRange, code.values);
  return code;
}

std::string vector_bytes(const VectorCode& code) {
  std::string bytes(sizeof(float) + code.values.size(), '\0');
  std::memcpy(bytes.data(), &code.scale, sizeof(float));
  std::memcpy(bytes.data() + sizeof(float), code.values.data(), code.values.size());
  return bytes;
}

Result<VectorCode> vector_from_bytes(std::string_view bytes, std::size_t dimensions) {
  if (bytes.size() != sizeof(float) + dimensions) {
    return fail(ErrorCode::kDamaged, "a vector of " + std::to_string(dimensions) +
                                         " dimensions has " +
                                         std::to_string(sizeof(float) + dimensions) +
                                         " bytes, not " + std::to_string(bytes.size()));
  }
  VectorCode code;
  std::memcpy(&code.scale, bytes.data(), sizeof(float));
  if (!std::isfinite(code.scale) || code.scale < 0) {
    return fail(ErrorCode::kDamaged, "the scale of a vector is " + std::to_string(code.scale));
  }
  code.values.resize(dimensions);
  std::memcpy(code.values.data(), bytes.data() + sizeof(float), dimensions);
  // The code that quantize() never makes, and that the sum has no room for.
  std::ranges::replace(code.values, std::int8_t{-128}, std::int8_t{-127});
  return code;
}

DotKernel best_kernel() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) return DotKernel::kAvx2;
#endif
  return DotKernel::kPortable;
}

std::int32_t dot_product(DotKernel kernel, const std::int16_t* query, const std::int8_t* codes,
                         std::size_t dimensions) {
#if defined(__x86_64__)
  if (kernel == DotKernel::kAvx2) return dot_avx2(query, codes, dimensions);
#endif
  (void)kernel;
  return dot_portable(query, codes, dimensions);
}

VectorTable::VectorTable(std::size_t dimensions) : dimensions_(dimensions) {
  assert(dimensions > 0 && dimensions <= limits::kMaxDimensions);
}

std::size_t VectorTable::bytes() const {
  return blocks_.size() * kBlock * (dimensions_ + sizeof(float));
}

const std::int8_t* VectorTable::codes_at(std::size_t position) const {
  return blocks_[position / kBlock].codes.get() + position % kBlock * dimensions_;
}

void VectorTable::append(const VectorCode& code) {
  if (size_ == blocks_.size() * kBlock) {
    blocks_.push_back(
        {.scales = std::make_unique_for_overwrite<float[]>(kBlock),
         .codes = std::make_unique_for_overwrite<std::int8_t[]>(kBlock * dimensions_)});
  }
  ++size_;
  set(size_ - 1, code);
}

void VectorTable::set(std::size_t position, const VectorCode& code) {
  assert(position < size_ && code.values.size() == dimensions_);
  const Block& block = blocks_[position / kBlock];
  block.scales[position % kBlock] = code.scale;
  std::ranges::copy(code.values, block.codes.get() + position % kBlock * dimensions_);
}

void VectorTable::shrink(std::size_t size) {
  assert(size <= size_);
  size_ = size;
  blocks_.resize((size + kBlock - 1) / kBlock);
}

VectorCode VectorTable::get(std::size_t position) const {
  assert(position < size_);
  const std::int8_t* codes = codes_at(position);
  return {.scale = blocks_[position / kBlock].scales[position % kBlock],
          .values = {codes, codes + dimensions_}};
}

float VectorTable::similarity(const QueryCode& query, std::size_t position) const {
  float found = 0;
  scan(query, position, std::span(&found, 1));
  return found;
}

void VectorTable::scan(const QueryCode& query, std::size_t first,
                       std::span<float> similarities) const {
  assert(query.values.size() == dimensions_ && first + similarities.size() <= size_);
  const std::int16_t* const wanted = query.values.data();
  for (std::size_t i = 0; i < similarities.size(); ++i) {
    const std::size_t position = first + i;
    const float scale = blocks_[position / kBlock].scales[position % kBlock];
    similarities[i] =
        static_cast<float>(dot_product(kernel_, wanted, codes_at(position), dimensions_)) * scale *
        query.scale;
  }
}

}  // namespace skein
