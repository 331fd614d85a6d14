#include "recall/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/expect.h"

namespace skein::test {
namespace {

using testing::Each;
using testing::FloatNear;

Vector random_unit_vector(std::mt19937_64& random, std::size_t dimensions) {
  std::normal_distribution<float> normal;
  Vector vector(dimensions);
  double sum = 0;
  for (float& value : vector) {
    value = normal(random);
    sum += double{value} * value;
  }
  for (float& value : vector) value = static_cast<float>(value / std::sqrt(sum));
  return vector;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

TEST(Vectors, HaveTheSameDotProductByEveryKernel) {
  std::mt19937_64 random(3);
  for (std::size_t dimensions = 1; dimensions < 200; ++dimensions) {
    std::vector<std::int16_t> query(dimensions);
    std::vector<std::int8_t> codes(dimensions);
    for (auto& value : query) value = static_cast<std::int16_t>(random() % 4095) - 2047;
    for (auto& value : codes) value = static_cast<std::int8_t>(random() % 255 - 127);
    const auto by = [&](DotKernel kernel) {
      return dot_product(kernel, query.data(), codes.data(), dimensions);
    };
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < dimensions; ++i) expected += std::int64_t{query[i]} * codes[i];
    ASSERT_EQ(by(DotKernel::kPortable), expected) << dimensions;
    ASSERT_EQ(by(best_kernel()), expected) << dimensions;
  }
}

TEST(Vectors, OfTheMostDimensionsAndTheLargestCodesDoNotOverflow) {
  const std::vector<std::int16_t> query(limits::kMaxDimensions, -2047);
  const std::vector<std::int8_t> codes(limits::kMaxDimensions, 127);
  for (const DotKernel kernel : {DotKernel::kPortable, best_kernel()}) {
    EXPECT_EQ(dot_product(kernel, query.data(), codes.data(), limits::kMaxDimensions),
              -std::int64_t{2047} * 127 * std::int64_t{limits::kMaxDimensions});
  }
}

TEST(Vectors, AreNearlyAsSimilarInBytesAsInFloats) {
  std::mt19937_64 random(5);
  VectorTable table(384);
  std::vector<Vector> vectors;
  for (int i = 0; i < 5000; ++i) {
    vectors.push_back(random_unit_vector(random, 384));
    table.append(quantize(vectors.back()));
  }
  const Vector query = random_unit_vector(random, 384);
  std::vector<float> similarities(table.size() - 3);
  table.scan(quantize_query(query), 3, similarities);
  for (std::size_t i = 0; i < similarities.size(); ++i) {
    ASSERT_NEAR(similarities[i], dot(query, vectors[i + 3]), 0.003) << i;
    ASSERT_EQ(similarities[i], table.similarity(quantize_query(query), i + 3));
  }
  EXPECT_NEAR(table.similarity(quantize_query(vectors[4999]), 4999), 1, 0.003);
}

TEST(Vectors, StayWhereTheyAreWhenOthersChange) {
  std::mt19937_64 random(7);
  VectorTable table(10);
  std::vector<VectorCode> codes;
  for (int i = 0; i < 9000; ++i) {
    codes.push_back(quantize(random_unit_vector(random, 10)));
    table.append(codes.back());
  }
  codes[4096] = quantize(random_unit_vector(random, 10));
  table.set(4096, codes[4096]);
  const std::size_t bytes = table.bytes();
  table.shrink(5000);
  EXPECT_LT(table.bytes(), bytes);
  ASSERT_EQ(table.size(), 5000u);
  table.append(codes[5000]);
  for (std::size_t i = 0; i < table.size(); ++i) {
    ASSERT_EQ(table.get(i).values, codes[i].values) << i;
    ASSERT_EQ(table.get(i).scale, codes[i].scale) << i;
  }
}

TEST(Vectors, OfOneHundredThousandTakeHardlyMoreThanTheirBytes) {
  VectorTable table(384);
  const VectorCode code = quantize(Vector(384, 0.05f));
  for (int i = 0; i < 100'000; ++i) table.append(code);
  EXPECT_LT(table.bytes(), 100'000 * 388 * 1.05);
}

TEST(Vectors, AreTheSameAfterBeingKeptAsBytes) {
  std::mt19937_64 random(9);
  const VectorCode code = quantize(random_unit_vector(random, 384));
  const std::string bytes = vector_bytes(code);
  EXPECT_EQ(bytes.size(), 388u);
  const VectorCode back = must(vector_from_bytes(bytes, 384));
  EXPECT_EQ(back.values, code.values);
  EXPECT_EQ(back.scale, code.scale);

  EXPECT_TRUE(fails(vector_from_bytes(bytes, 383), ErrorCode::kDamaged, {"387", "388"}));
  EXPECT_TRUE(fails(vector_from_bytes("", 384), ErrorCode::kDamaged, {"388"}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::string damaged = bytes;
  damaged.replace(0, 4, reinterpret_cast<const char*>(&nan), 4);
  EXPECT_TRUE(fails(vector_from_bytes(damaged, 384), ErrorCode::kDamaged, {"nan"}));
  damaged = bytes.substr(0, 4) + std::string(384, '\x80');
  EXPECT_THAT(must(vector_from_bytes(damaged, 384)).values, Each(-127));
}

TEST(Vectors, OfNothingAreSimilarToNothing) {
  VectorTable table(3);
  table.append(quantize(Vector{0, 0, 0}));
  table.append(quantize(Vector{std::numeric_limits<float>::infinity(), 0, 1}));
  table.append(quantize(Vector{0, 0, -1}));
  std::vector<float> found(3);
  table.scan(quantize_query(Vector{0, 0, 1}), 0, found);
  EXPECT_EQ(found[0], 0);
  EXPECT_EQ(found[1], 0);
  EXPECT_THAT(found[2], FloatNear(-1, 1e-3f));
}

}  // namespace
}  // namespace skein::test
