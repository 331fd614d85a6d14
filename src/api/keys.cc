#include "api/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/text.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::string_view kCollection = "keys";
constexpr std::string_view kPrefix = "skein_";
constexpr std::size_t kIdDigits = 12;
constexpr std::size_t kSecretDigits = 40;

std::string to_record(const ApiKey& key) {
  JsonObject object;
  object.add("id", key.id).add("name", key.name).add("access", key.access);
  object.add("agents", key.agents).add("createdAt", key.created_at.str());
  if (key.revoked_at.is_set()) object.add("revokedAt", key.revoked_at.str());
  return object.add("hash", key.hash).str();
}

Result<ApiKey> from_record(const Record& record) {
  const auto damaged = [&] {
    return fail(ErrorCode::kDamaged, "the record of key " + quote(record.key) + " is damaged");
  };
  if (!validate_json(record.bytes, "key")) return damaged();
  JsonFields fields(record.bytes);
  ApiKey key;
  key.id = fields.take_string("id").value_or("");
  key.name = fields.take_string("name").value_or("");
  key.access = fields.take_string("access").value_or("");
  const auto agents = fields.take_strings("agents");
  key.created_at = fields.take_time("createdAt").value_or(Timestamp{});
  key.revoked_at = fields.take_time("revokedAt").value_or(Timestamp{});
  key.hash = fields.take_string("hash").value_or("");
  // A list of agents that cannot be read must not become "all agents".
  if (key.id != record.key || key.hash.size() != 64 || !agents) return damaged();
  key.agents = *agents;
  return key;
}

Result<void> check(const NewApiKey& key) {
  constexpr std::string_view kAccesses[] = {"read", "write", "admin"};
  if (std::find(std::begin(kAccesses), std::end(kAccesses), key.access) == std::end(kAccesses)) {
    return fail(ErrorCode::kInvalid,
                "access must be read, write or admin, got " + quote(key.access));
  }
  if (key.name.size() > limits::kMaxKeyNameBytes || !valid_utf8(key.name) ||
      has_control_characters(key.name) || key.name.find('\n') != std::string::npos) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("a key's name must be one line of at most {} bytes", limits::kMaxKeyNameBytes));
  }
  if (key.agents.size() > limits::kMaxKeyAgents) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a key has at most {} agents", limits::kMaxKeyAgents));
  }
  for (const std::string& agent : key.agents) SKEIN_TRY(check_agent_id(agent));
  if (key.access == "admin" && !key.agents.empty()) {
    return fail(ErrorCode::kInvalid, "an admin's key is for all agents: it cannot name some");
  }
  return {};
}

std::string hex(std::uint64_t bits, std::size_t digits) {
  return fmt::format("{:016x}", bits).substr(16 - digits);
}

}  // namespace

Result<CreatedApiKey> ApiKeys::create(const NewApiKey& wanted) {
  SKEIN_TRY(check(wanted));
  SKEIN_ASSIGN(const std::vector<ApiKey> all, list());
  if (all.size() >= limits::kMaxKeys) {
    return fail(ErrorCode::kInvalid, fmt::format("a store has at most {} keys", limits::kMaxKeys));
  }
  CreatedApiKey made;
  made.key.id = hex(ids_.next(), kIdDigits);
  made.key.name = wanted.name;
  made.key.access = wanted.access;
  made.key.agents = wanted.agents;
  made.key.created_at = clock_.now();
  made.secret = fmt::format("{}{}_{}{}{}", kPrefix, made.key.id, hex(ids_.next(), 16),
                            hex(ids_.next(), 16), hex(ids_.next(), 8));
  made.key.hash = sha256_hex(made.secret);
  SKEIN_ASSIGN(const RecordWrite write, put_signed(signer_.get(), kCollection, made.key.id,
                                                   to_record(made.key), Version{0}));
  SKEIN_TRY(store_.write({&write, 1}));
  return made;
}

Result<std::vector<ApiKey>> ApiKeys::list() {
  std::vector<ApiKey> keys;
  Result<void> good;
  SKEIN_TRY(scan_prefix(store_, kCollection, "", [&](const Record& record) {
    auto key = from_record(record);
    if (key) {
      if (!record_counts(signer_.get(), kCollection, record)) {
        key->is_signed = false;
        key->why_inert = signer_->why_inert();
      }
      keys.push_back(std::move(*key));
    } else {
      good = tl::unexpected(std::move(key.error()));
    }
    return good.has_value();
  }));
  SKEIN_TRY(std::move(good));
  std::sort(keys.begin(), keys.end(), [](const ApiKey& a, const ApiKey& b) {
    return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
  });
  return keys;
}

Result<ApiKey> ApiKeys::revoke(std::string_view id) {
  // The key itself names its id; the secret behind it must not be repeated.
  if (id.starts_with(kPrefix)) id = id.substr(kPrefix.size(), kIdDigits);
  SKEIN_ASSIGN(const auto record, find_record(store_, kCollection, std::string(id)));
  if (!record) return fail(ErrorCode::kNotFound, "there is no key " + quote(id));
  SKEIN_ASSIGN(ApiKey key, from_record(*record));
  if (key.revoked_at.is_set()) return key;
  key.revoked_at = clock_.now();
  // What nobody signed must not become signed by the way.
  key.is_signed = record_counts(signer_.get(), kCollection, *record);
  SKEIN_ASSIGN(const RecordWrite write,
               put_signed(key.is_signed ? signer_.get() : nullptr, kCollection, key.id,
                          to_record(key), record->version));
  SKEIN_TRY(store_.write({&write, 1}));
  return key;
}

std::string_view id_of_key(std::string_view secret) {
  constexpr std::size_t kSize = kPrefix.size() + kIdDigits + 1 + kSecretDigits;
  if (secret.size() != kSize || !secret.starts_with(kPrefix)) return {};
  if (secret[kPrefix.size() + kIdDigits] != '_') return {};
  return secret.substr(kPrefix.size(), kIdDigits);
}

bool key_matches(const ApiKey& key, std::string_view secret) {
  const std::string hash = sha256_hex(secret);
  unsigned different = hash.size() == key.hash.size() ? 0U : 1U;
  for (std::size_t i = 0; i < hash.size() && i < key.hash.size(); ++i) {
    different |= static_cast<unsigned char>(hash[i] ^ key.hash[i]);
  }
  return different == 0;
}

std::string to_json(const ApiKey& key) {
  JsonObject object;
  object.add("id", key.id).add("name", key.name).add("access", key.access);
  object.add("agents", key.agents).add("createdAt", key.created_at.str());
  if (key.revoked_at.is_set()) object.add("revokedAt", key.revoked_at.str());
  if (!key.is_signed) object.add("signed", false);
  return object.str();
}

}  // namespace skein
