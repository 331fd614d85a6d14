#include "http/key_ring.h"

#include <algorithm>

#include "core/try.h"

namespace skein::http {
namespace {

// "Authorization: Bearer KEY" or "X-Api-Key: KEY".
std::string_view key_in(const std::vector<HttpHeader>& headers) {
  for (const HttpHeader& header : headers) {
    const std::string_view value = header.value;
    if (is_header(header, "x-api-key")) return value;
    if (is_header(header, "authorization") && value.size() > 7) {
      const HttpHeader scheme{header.value.substr(0, 7), {}};
      if (is_header(scheme, "bearer ")) return value.substr(7);
    }
  }
  return {};
}

}  // namespace

Problem unauthorized(std::string message) {
  Problem problem(401, "unauthorized", std::move(message));
  problem.headers.push_back({"WWW-Authenticate", "Bearer realm=\"skein\""});
  return problem;
}

Result<void> KeyRing::refresh() {
  SKEIN_ASSIGN(std::vector<ApiKey> keys, keys_.list());
  auto fresh = std::make_shared<Known>();
  for (ApiKey& key : keys) {
    std::string id = key.id;
    fresh->emplace(std::move(id), std::move(key));
  }
  const std::lock_guard lock(mutex_);
  known_ = std::move(fresh);
  return {};
}

std::shared_ptr<const KeyRing::Known> KeyRing::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

bool KeyRing::is_open() const { return known()->empty(); }

tl::expected<Caller, Problem> KeyRing::authenticate(const std::vector<HttpHeader>& headers) const {
  const auto keys = known();
  Caller caller;
  if (keys->empty()) {
    caller.access = Access::kAdmin;
    caller.all_agents = true;
    return caller;
  }
  const std::string_view secret = key_in(headers);
  if (secret.empty()) {
    return tl::unexpected(unauthorized(
        "a key is needed: send it as \"Authorization: Bearer KEY\" or \"X-Api-Key: KEY\""));
  }
  // A key that is not there takes as long as one that is wrong.
  static const ApiKey kNobody{.id = {},
                              .name = {},
                              .access = {},
                              .created_at = {},
                              .revoked_at = {},
                              .hash = std::string(64, '-')};
  const auto found = keys->find(std::string(id_of_key(secret)));
  const ApiKey& key = found == keys->end() ? kNobody : found->second;
  const bool good = key_matches(key, secret) && !key.revoked_at.is_set() && key.is_signed;
  const auto access = parse_access(key.access);
  if (!good || !access) return tl::unexpected(unauthorized("this key is not good, or was revoked"));
  caller.key_id = key.id;
  caller.name = key.name;
  caller.access = *access;
  caller.all_agents = key.agents.empty();
  caller.agents = key.agents;
  return caller;
}

bool KeyRing::still_counts(const std::string& key_id) const {
  const auto keys = known();
  if (key_id.empty()) return keys->empty();
  const auto found = keys->find(key_id);
  return found != keys->end() && !found->second.revoked_at.is_set() && found->second.is_signed;
}

bool RateLimit::take(const std::string& key_id, SteadyTime now) {
  auto [found, is_new] = buckets_.try_emplace(key_id);
  Bucket& bucket = found->second;
  if (is_new) bucket = {per_second_, now};
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(per_second_, bucket.left + seconds * per_second_);
  bucket.at = now;
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

}  // namespace skein::http
