#include "skein/record_signer.h"

#include <algorithm>
#include <utility>

#include "core/sha256.h"

namespace skein {
namespace {

constexpr std::string_view kName = "\"hmac\":\"";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kSuffix = kName.size() + kDigits + 2;  // and the closing "}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The digits of the signature at the end of the object; empty: it has none.
std::string_view signature_of(std::string_view json) {
  if (json.size() < kSuffix + 1 || !json.ends_with("\"}")) return {};
  const std::string_view suffix = json.substr(json.size() - kSuffix);
  const std::string_view digits = suffix.substr(kName.size(), kDigits);
  return suffix.starts_with(kName) && is_hex(digits) ? digits : std::string_view();
}

// No part contains a NUL: paths, collections, keys and JSON text cannot.
std::string signed_text(std::string_view workspace, std::string_view collection,
                        std::string_view key, std::string_view json) {
  std::string text = "skein record 1";
  for (const std::string_view part : {workspace, collection, key, json}) {
    text += '\0';
    text += part;
  }
  return text;
}

}  // namespace

RecordSigner::RecordSigner(std::string secret, std::string workspace)
    : secret_(std::move(secret)), workspace_(std::move(workspace)) {}

std::string RecordSigner::sign(std::string_view collection, std::string_view key,
                               std::string_view json) const {
  std::string object = without_signature(json);
  const std::string digits =
      hmac_sha256_hex(secret_, signed_text(workspace_, collection, key, object));
  if (!object.ends_with('}')) return object;
  object.pop_back();
  if (!object.ends_with('{')) object += ',';
  object += kName;
  object += digits;
  object += "\"}";
  return object;
}

bool RecordSigner::verifies(std::string_view collection, std::string_view key,
                            std::string_view bytes) const {
  const std::string_view digits = signature_of(bytes);
  if (digits.empty()) return false;
  const std::string object = without_signature(bytes);
  return same_secret(digits,
                     hmac_sha256_hex(secret_, signed_text(workspace_, collection, key, object)));
}

std::string without_signature(std::string_view json) {
  if (signature_of(json).empty()) return std::string(json);
  std::string object(json.substr(0, json.size() - kSuffix));
  if (object.ends_with(',')) object.pop_back();
  object += '}';
  return object;
}

}  // namespace skein
