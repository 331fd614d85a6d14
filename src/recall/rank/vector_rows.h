// Vectors of messages by their place in a corpus, where not every message has one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "recall/vectors.h"

namespace skein {

// Not thread-safe while it is changed.
class VectorRows {
 public:
  std::size_t count() const { return count_; }  // of those that are there
  bool has(std::size_t place) const { return place < has_.size() && has_[place]; }

  // Forgets all. At most limits::kMaxDimensions.
  void reset(std::size_t dimensions);
  // Bytes that are not those of a vector (vector_bytes) are as if there was none.
  void set(std::size_t place, std::string_view bytes);
  void clear(std::size_t place);

  // The cosines of the query with places 0 … out.size() − 1; 0 where there is no vector.
  void scan(std::span<const float> query, std::span<float> out) const;

 private:
  std::unique_ptr<VectorTable> table_;
  std::vector<bool> has_;
  std::size_t count_ = 0;
};

}  // namespace skein
