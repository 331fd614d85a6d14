#include "core/moment.h"

#include <charconv>
#include <cstdint>

namespace skein {

Result<Timestamp> parse_moment(std::string_view text, Timestamp now) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, count);
  if (number.ec == std::errc() && number.ptr + 1 == end && count <= 1'000'000) {
    const std::string_view units = "mhd";
    constexpr std::int64_t kUnitMs[] = {60'000, 3'600'000, 86'400'000};
    const std::size_t unit = units.find(*number.ptr);
    if (unit != std::string_view::npos) {
      return Timestamp::from_ms(now.ms() - static_cast<std::int64_t>(count) * kUnitMs[unit]);
    }
  }
  const bool date_alone = text.size() == 10;
  return Timestamp::parse(std::string(text) + (date_alone ? "T00:00:00Z" : ""));
}

}  // namespace skein
