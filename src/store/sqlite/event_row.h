// An event as a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skein/event.h"
#include "skein/ids.h"

namespace skein::sqlite {

struct EventRow {
  std::int64_t g = 0;
  ThreadId id;
  Seq seq = 0;
  std::int64_t updated = 0;
  std::int64_t lag = 0;
  std::optional<std::uint32_t> tokens;
  std::string_view key;
  std::int64_t crc = 0;
  std::string_view body;
  const char* missing = nullptr;  // set: there is no such row, and why
};

}  // namespace skein::sqlite
