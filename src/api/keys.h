// Keys by which callers of a server are known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/ids.h"
#include "skein/record_signer.h"
#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxKeys = 10'000;
inline constexpr std::size_t kMaxKeyNameBytes = 200;
inline constexpr std::size_t kMaxKeyAgents = 1000;
}  // namespace limits

// What a key is, without what proves it: that is shown once, when it is made, and only a hash of it
// is kept.
struct ApiKey {
  std::string id;                     // 12 hex digits; part of the key itself
  std::string name;                   // for people; may be empty
  std::string access;                 // "read", "write", "admin"
  std::vector<std::string> agents{};  // empty: all
  Timestamp created_at;
  Timestamp revoked_at;     // unset: it is good
  std::string hash{};       // SHA-256 of the whole key, in hex
  bool is_signed = true;    // false: it is known, and is rejected
  std::string why_inert{};  // unless it is signed: why, and what to do
};

struct NewApiKey {
  std::string name{};
  std::string access = "read";
  std::vector<std::string> agents{};  // empty: all; must be so for "admin"
};

struct CreatedApiKey {
  ApiKey key;
  std::string secret;  // skein_<id>_<40 hex digits>
};

// The keys of a store, in its collection `keys`. Thread-safe. Borrows its arguments.
class ApiKeys {
 public:
  // Without a signer every key counts.
  ApiKeys(Store& store, Clock& clock, IdSource& ids,
          std::shared_ptr<const RecordSigner> signer = nullptr)
      : store_(store), clock_(clock), ids_(ids), signer_(std::move(signer)) {}

  // kInvalid names the rule.
  Result<CreatedApiKey> create(const NewApiKey& key);
  // Oldest first, those that were revoked or are not signed included: they stay, so that a store
  // that once had keys is never open to everybody again.
  Result<std::vector<ApiKey>> list();
  // Revoking again changes nothing. A key that was not signed stays so. kNotFound.
  Result<ApiKey> revoke(std::string_view id);

 private:
  Store& store_;
  Clock& clock_;
  IdSource& ids_;
  std::shared_ptr<const RecordSigner> signer_;
};

// The id in a key; empty: it does not look like one.
std::string_view id_of_key(std::string_view secret);

// Whether this is the key, in a time that does not depend on where they differ.
bool key_matches(const ApiKey& key, std::string_view secret);

// One JSON object on one line, without the hash.
std::string to_json(const ApiKey& key);

}  // namespace skein
