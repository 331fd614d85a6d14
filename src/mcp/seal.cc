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

Result<std::optional<std::string>> stored_key(Store& store) {
  SKEIN_ASSIGN(const auto found,
               store.scan({.collection = kCollection, .from = kName, .to = "", .limit = 1}));
  if (found.empty() || found[0].key != kName) return std::optional<std::string>();
  return std::optional(found[0].bytes);
}

}  // namespace

Result<std::string> Seal::key() {
  const std::lock_guard lock(mutex_);
  if (!key_.empty()) return key_;
  SKEIN_ASSIGN(Desk* const desk, workspace_.change());
  SKEIN_ASSIGN(auto found, stored_key(desk->store()));
  if (!found) {
    std::string fresh;
    for (int i = 0; i < 4; ++i) fresh += fmt::format("{:016x}", random_ids().next());
    const RecordWrite write{kCollection, kName, fresh, Version{0}, std::nullopt};
    // Another server may have been faster: then its key counts.
    (void)desk->store().write(std::span(&write, 1));
    SKEIN_ASSIGN(found, stored_key(desk->store()));
  }
  if (!found) return fail(ErrorCode::kIo, "the key for sealing cannot be stored");
  key_ = *found;
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
