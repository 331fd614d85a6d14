// Who a caller is: the keys of the store, kept at hand, and how often each may ask.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/keys.h"
#include "http/io.h"
#include "http/request.h"

namespace skein::http {

// 401.
Problem unauthorized(std::string message);

// Thread-safe. A key that was revoked is refused as soon as the ring was refreshed.
class KeyRing {
 public:
  explicit KeyRing(ApiKeys keys) : keys_(keys) {}

  // Reads the keys. After an error those that were known go on to count.
  Result<void> refresh();

  // No key was ever made: whoever reaches the server may do everything.
  bool is_open() const;
  // 401, in the same words and about the same time whatever is wrong with the key.
  tl::expected<Caller, Problem> authenticate(const std::vector<HttpHeader>& headers) const;
  // Whether who was let in with that key, or, if it is empty, without one, still would be.
  bool still_counts(const std::string& key_id) const;

 private:
  using Known = std::unordered_map<std::string, ApiKey>;
  std::shared_ptr<const Known> known() const;

  ApiKeys keys_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_ = std::make_shared<Known>();  // under mutex_
};

// How often each caller may ask: a bucket that fills up steadily. For one thread.
class RateLimit {
 public:
  explicit RateLimit(double per_second) : per_second_(per_second) {}
  bool take(const std::string& key_id, SteadyTime now);

 private:
  struct Bucket {
    double left = 0;
    SteadyTime at{};
  };
  const double per_second_;
  std::unordered_map<std::string, Bucket> buckets_;  // as many as there are keys
};

}  // namespace skein::http
