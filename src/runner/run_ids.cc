#include "runner/run_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/quote.h"
#include "core/try.h"
#include "skein/run.h"

namespace skein {
namespace {

constexpr unsigned kCounterBits = 12;
constexpr unsigned kChanceBits = 14;
// The counter of a millisecond begins anywhere in its lower half: two processes would have to agree
// on that too.
constexpr std::uint64_t kMostFirst = (1U << (kCounterBits - 1)) - 1;
constexpr std::size_t kUuidSize = 36;

bool is_run_id(std::string_view text) {
  if (text.size() != kUuidSize || text[14] != '7') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

}  // namespace

std::string RunIds::next(ThreadId thread) {
  const std::uint64_t random = ids_.next();
  std::uint64_t moment = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.now().ms()));
    last_ = std::max(last_ + 1, now << kCounterBits | (random >> kChanceBits & kMostFirst));
    moment = last_;
  }
  const std::uint64_t ms = moment >> kCounterBits & 0xFFFF'FFFF'FFFF;
  const std::uint64_t counter = moment & 0xFFF;
  const std::uint64_t chance = random & ((1U << kChanceBits) - 1);
  return fmt::format("{:08x}-{:04x}-7{:03x}-{:04x}-{}", ms >> 16, ms & 0xFFFF, counter,
                     0x8000 | chance, thread.str());
}

Result<ThreadId> thread_of_run(std::string_view run_id) {
  if (!is_run_id(run_id)) {
    return fail(ErrorCode::kInvalid,
                "run id must be a UUID of version 7 in lower case, got " + quote(run_id));
  }
  return ThreadId::parse(run_id.substr(24));
}

}  // namespace skein
