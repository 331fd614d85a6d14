// Points in time, and where they come from.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

// A point in time, kept in microseconds: Skein's own clock counts milliseconds, and what other
// programs wrote more finely is not cut. Text is ISO 8601 in UTC: 2026-01-23T14:30:52.123Z.
struct Timestamp {
  static constexpr std::int64_t kUnset = std::numeric_limits<std::int64_t>::min();

  static constexpr std::int64_t kFirst = -62'167'219'200'000'000;  // 0000-01-01
  static constexpr std::int64_t kEnd = 253'402'300'800'000'000;    // 10000-01-01

  std::int64_t us = kUnset;

  constexpr bool is_set() const { return us != kUnset; }
  // Unset, or in the years 0000 to 9999, which is what text can say.
  constexpr bool is_valid() const { return !is_set() || (us >= kFirst && us < kEnd); }
  static constexpr Timestamp from_ms(std::int64_t ms) { return {ms * 1000}; }
  constexpr std::int64_t ms() const { return us / 1000; }

  // Takes a date and time with "Z" or an offset, any number of fractional digits (beyond the sixth
  // they are dropped), years 0000 to 9999. kInvalid otherwise.
  static Result<Timestamp> parse(std::string_view text);
  // Three fractional digits, or six where milliseconds do not tell all. Empty when unset.
  std::string str() const;

  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
};

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall-clock time, in whole milliseconds.
  virtual Timestamp now() = 0;
  // Milliseconds since the machine booted, time asleep included; shared by all its processes.
  virtual std::int64_t boot_ms() = 0;
  // Tells one boot from the next.
  virtual std::string boot_id() = 0;
};

// The machine's clocks. Lives as long as the program.
Clock& system_clock();

}  // namespace skein
