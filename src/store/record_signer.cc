#include "skein/record_signer.h"

#include <algorithm>
#include <utility>

#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"

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

// Each part comes with its length, so that no two lists of parts look the same.
std::string signed_text(std::string_view workspace, std::string_view collection,
                        std::string_view key, std::string_view json) {
  std::string text = "skein record 1";
  text.reserve(workspace.size() + collection.size() + key.size() + json.size() + 64);
  for (const std::string_view part : {workspace, collection, key, json}) {
    text += ' ';
    text += std::to_string(part.size());
    text += ':';
    text += part;
  }
  return text;
}

}  // namespace

RecordSigner::RecordSigner(std::unique_ptr<const SigningSecret> source, std::string workspace)
    : source_(std::move(source)), workspace_(std::move(workspace)) {}

RecordSigner::RecordSigner(std::string secret, std::string workspace)
    : workspace_(std::move(workspace)),
      secret_(std::make_shared<const std::string>(std::move(secret))) {}

std::shared_ptr<const std::string> RecordSigner::known() const {
  const std::lock_guard lock(mutex_);
  return secret_;
}

Result<std::string> RecordSigner::sign(std::string_view collection, std::string_view key,
                                       std::string_view json) const {
  std::string object = without_signature(json);
  if (!object.starts_with('{') || !object.ends_with('}')) {
    return fail(ErrorCode::kInvalid, "record " + quote(key) + " of " + std::string(collection) +
                                         " cannot be signed: it is no JSON object on one line");
  }
  auto secret = known();
  if (!secret) {
    SKEIN_ASSIGN(std::string found, source_->find_or_make());
    secret = std::make_shared<const std::string>(std::move(found));
    const std::lock_guard lock(mutex_);
    secret_ = secret;
  }
  const std::string digits =
      hmac_sha256_hex(*secret, signed_text(workspace_, collection, key, object));
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
  auto secret = known();
  if (!secret) {
    const auto found = source_->find();
    if (!found || !*found) return false;
    secret = std::make_shared<const std::string>(**found);
    const std::lock_guard lock(mutex_);
    secret_ = secret;
  }
  const std::string object = without_signature(bytes);
  return same_secret(digits,
                     hmac_sha256_hex(*secret, signed_text(workspace_, collection, key, object)));
}

std::string RecordSigner::why_inert() const {
  if (!known()) {
    if (const auto found = source_->find(); !found) return found.error().message;
  }
  return "it is not signed by this user for this workspace; review it with \"skein trust\" "
         "(and --store, if you named the store)";
}

std::string without_signature(std::string_view json) {
  if (signature_of(json).empty()) return std::string(json);
  std::string object(json.substr(0, json.size() - kSuffix));
  if (object.ends_with(',')) object.pop_back();
  object += '}';
  return object;
}

}  // namespace skein
