#include "mcp/seal.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base64.h"
#include "core/sha256.h"
#include "core/try.h"
#include "mcp/limits.h"

namespace skein::mcp {
namespace {

constexpr const char* kCollection = "mcp_keys";
constexpr const char* kName = "seal";

std::string signed_text(std::string_view body, std::string_view purpose) {
  return fmt::format("{}:{}{}", body.size(), body, purpose);
}

tl::unexpected<Error> not_ours() {
  return fail(ErrorCode::kInvalid,
              "\"requestState\" must be what this server gave for this request, unchanged and not "
              "older than " +
                  std::to_string(limits::kStateTime.count()) + " minutes");
}

struct StoredKey {
  std::string bytes;
  Version version = 0;
  bool counts = false;  // there is one, and whoever shipped the store does not know it
};

Result<StoredKey> stored_key(Store& store, const RecordSigner* signer) {
  SKEIN_ASSIGN(const auto found,
               store.scan({.collection = kCollection, .from = kName, .to = "", .limit = 1}));
  if (found.empty() || found[0].key != kName) return StoredKey{};
  const bool counts = signer == nullptr || signer->verifies(kCollection, kName, found[0].bytes);
  return StoredKey{found[0].bytes, found[0].version, counts};
}

// Where records are signed, the whole signed object is the key: as secret as what is in it, and the
// same bytes for every version of the program.
Result<std::string> fresh_key(const RecordSigner* signer) {
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += fmt::format("{:016x}", random_ids().next());
  if (signer == nullptr) return digits;
  return signer->sign(kCollection, kName, "{\"key\":\"" + digits + "\"}");
}

}  // namespace

Result<std::string> Seal::key() {
  const std::lock_guard lock(mutex_);
  if (!key_.empty()) return key_;
  SKEIN_ASSIGN(Desk* const desk, workspace_.change());
  const RecordSigner* const signer = workspace_.settings().signer.get();
  SKEIN_ASSIGN(StoredKey found, stored_key(desk->store(), signer));
  if (!found.counts) {
    SKEIN_ASSIGN(std::string fresh, fresh_key(signer));
    const RecordWrite write{kCollection, kName, std::move(fresh), found.version, std::nullopt};
    // Another server may have been faster: then its key counts.
    (void)desk->store().write(std::span(&write, 1));
    SKEIN_ASSIGN(found, stored_key(desk->store(), signer));
  }
  if (!found.counts) return fail(ErrorCode::kIo, "the key for sealing cannot be stored");
  key_ = std::move(found.bytes);
  return key_;
}

Result<std::string> Seal::close(std::string_view state, std::string_view purpose) {
  SKEIN_ASSIGN(const std::string secret, key());
  const auto until =
      workspace_.clock().now().ms() +
      std::chrono::duration_cast<std::chrono::milliseconds>(limits::kStateTime).count();
  std::string body;
  append_base64(body, fmt::format("{}:{}", until, state));
  return body + "." + hmac_sha256_hex(secret, signed_text(body, purpose));
}

Result<std::string> Seal::open(std::string_view sealed, std::string_view purpose) {
  const std::size_t dot = sealed.rfind('.');
  if (dot == std::string_view::npos || sealed.size() > limits::kMaxStateBytes) return not_ours();
  const std::string_view body = sealed.substr(0, dot);
  SKEIN_ASSIGN(const std::string secret, key());
  if (!same_secret(hmac_sha256_hex(secret, signed_text(body, purpose)), sealed.substr(dot + 1))) {
    return not_ours();
  }
  const auto text = decode_base64(body);
  const std::size_t colon = text ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return not_ours();
  std::int64_t until = 0;
  std::from_chars(text->data(), text->data() + colon, until);
  if (workspace_.clock().now().ms() > until) return not_ours();
  return text->substr(colon + 1);
}

}  // namespace skein::mcp
