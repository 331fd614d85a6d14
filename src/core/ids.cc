#include "skein/ids.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

constexpr std::size_t kIdDigits = 12;
constexpr std::string_view kUuidPrefix = "00000000-0000-4000-8000-";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool is_agent_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The UUID in lower case, or empty if it is none.
std::string lower_uuid(std::string_view text) {
  if (text.size() != 36) return {};
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? out[i] != '-' : hex_value(out[i]) < 0) return {};
  }
  return out;
}

class RandomIds final : public IdSource {
 public:
  std::uint64_t next() override {
    const std::lock_guard lock(mutex_);
    if (used_ == kPool) refill();
    return pool_[used_++];
  }

 private:
  static constexpr std::size_t kPool = 32;

  void refill() {
    auto* bytes = reinterpret_cast<char*>(pool_);
    std::size_t filled = 0;
    while (filled < sizeof pool_) {
      const ssize_t got = getrandom(bytes + filled, sizeof pool_ - filled, 0);
      if (got > 0)
        filled += static_cast<std::size_t>(got);
      else if (errno != EINTR)
        std::abort();
    }
    used_ = 0;
  }

  std::mutex mutex_;
  std::uint64_t pool_[kPool] = {};
  std::size_t used_ = kPool;
};

}  // namespace

Result<ThreadId> ThreadId::parse(std::string_view text) {
  std::uint64_t bits = 0;
  bool valid = text.size() == kIdDigits;
  for (std::size_t i = 0; valid && i < kIdDigits; ++i) {
    const int digit = hex_value(text[i]);
    valid = digit >= 0;
    bits = bits << 4 | static_cast<std::uint64_t>(digit & 0xF);
  }
  if (!valid) {
    return fail(ErrorCode::kInvalid, "thread id must match /^[a-f0-9]{12}$/, got " + quote(text));
  }
  return ThreadId(bits);
}

std::string ThreadId::str() const {
  std::string out(kIdDigits, '0');
  for (std::size_t i = 0; i < kIdDigits; ++i) {
    out[i] = "0123456789abcdef"[bits_ >> (4 * (kIdDigits - 1 - i)) & 0xF];
  }
  return out;
}

std::string ThreadId::uuid() const { return std::string(kUuidPrefix) + str(); }

Result<ThreadRef> ThreadRef::parse(std::string_view text) {
  if (text.size() != 36) {
    SKEIN_ASSIGN(const ThreadId id, ThreadId::parse(text));
    return ThreadRef(id);
  }
  std::string uuid = lower_uuid(text);
  if (uuid.empty()) {
    return fail(ErrorCode::kInvalid,
                "thread id must match /^[a-f0-9]{12}$/ or be a UUID, got " + quote(text));
  }
  if (uuid.starts_with(kUuidPrefix)) {
    SKEIN_ASSIGN(const ThreadId id,
                 ThreadId::parse(std::string_view(uuid).substr(kUuidPrefix.size())));
    return ThreadRef(id);
  }
  return ThreadRef(std::move(uuid));
}

Result<void> check_agent_id(std::string_view text) {
  const bool valid = !text.empty() && text.size() <= limits::kMaxAgentIdBytes && text[0] != '.' &&
                     std::all_of(text.begin(), text.end(), is_agent_char);
  if (!valid) {
    return fail(ErrorCode::kInvalid,
                "agent id must match [A-Za-z0-9_-][A-Za-z0-9._-]{0,63}, got " + quote(text));
  }
  if (text == "usage.jsonl")
    return fail(ErrorCode::kInvalid, "agent id must not be \"usage.jsonl\"");
  return {};
}

Result<std::string> check_alias(std::string_view text) {
  std::string uuid = lower_uuid(text);
  if (uuid.empty()) return fail(ErrorCode::kInvalid, "alias must be a UUID, got " + quote(text));
  if (uuid.starts_with(kUuidPrefix)) {
    return fail(ErrorCode::kInvalid, "alias must not be the UUID form of a thread id (" +
                                         std::string(kUuidPrefix) + "…), got " + quote(text));
  }
  return uuid;
}

IdSource& random_ids() {
  static RandomIds ids;
  return ids;
}

}  // namespace skein
