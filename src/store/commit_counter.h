// Counts commits by how many calls shared them.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "skein/store.h"

namespace skein {

// Thread-safe.
class CommitCounter {
 public:
  void add(std::size_t calls) {
    const auto bound = static_cast<std::size_t>(calls < 2 ? 0 : std::bit_width(calls - 1));
    commits_[bound < commits_.size() ? bound : commits_.size() - 1].fetch_add(
        1, std::memory_order_relaxed);
    calls_.fetch_add(calls, std::memory_order_relaxed);
  }

  CommitSizes sizes() const {
    CommitSizes sizes;
    for (std::size_t i = 0; i < commits_.size(); ++i) {
      sizes.commits[i] = commits_[i].load(std::memory_order_relaxed);
    }
    sizes.calls = calls_.load(std::memory_order_relaxed);
    return sizes;
  }

 private:
  std::array<std::atomic<std::uint64_t>, CommitSizes::kBounds + 1> commits_{};
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace skein
