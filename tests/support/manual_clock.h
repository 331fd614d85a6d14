// Time and chance, under a test's control. Both are thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "skein/clock.h"
#include "skein/ids.h"

namespace skein::test {

// Stands still until it is told to move.
class ManualClock final : public Clock {
 public:
  Timestamp now() override { return Timestamp::from_ms(wall_ms_); }
  std::int64_t boot_ms() override { return boot_ms_; }
  // As long as the kernel's, always.
  std::string boot_id() override {
    return "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + boots_);
  }

  void advance(std::chrono::milliseconds time) {
    wall_ms_ += time.count();
    boot_ms_ += time.count();
  }
  // The wall clock alone, forwards or backwards, as when somebody sets it.
  void set_wall_by(std::chrono::milliseconds time) { wall_ms_ += time.count(); }
  void reboot() {
    ++boots_;
    boot_ms_ = 1'000;
  }

 private:
  std::atomic<std::int64_t> wall_ms_ = 1'769'178'652'123;  // 2026-01-23T14:30:52.123Z
  std::atomic<std::int64_t> boot_ms_ = 50'000'000;
  std::atomic<int> boots_ = 1;
};

// The same ids for the same seed (splitmix64).
class SeededIds final : public IdSource {
 public:
  explicit SeededIds(std::uint64_t seed = 1) : state_(seed * 0x2545F4914F6CDD1DULL) {}

  std::uint64_t next() override {
    std::uint64_t z = state_.fetch_add(kGamma) + kGamma;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  static constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15ULL;
  std::atomic<std::uint64_t> state_;
};

}  // namespace skein::test
