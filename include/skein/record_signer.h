// Signatures of records that make Skein act: triggers, tasks, API keys and open runs.
//
// A database can arrive with a folder that somebody else made. Records in it are data; those that
// would start a run, answer a caller or continue a run count only when they carry the signature of
// this user for this workspace. A signature is the last member of the record's JSON object,
// "hmac": 64 hex digits of HMAC-SHA256 over workspace, collection, key and the rest of the bytes.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

// Where the user's secret comes from. Thread-safe.
class SigningSecret {
 public:
  virtual ~SigningSecret() = default;
  // Nothing: there is none yet, and none is made.
  virtual Result<std::optional<std::string>> find() const = 0;
  // Makes one where there is none.
  virtual Result<std::string> find_or_make() const = 0;
};

// Thread-safe. Asks for the secret when it is first needed, and keeps it.
class RecordSigner {
 public:
  // `workspace` is its canonical path. A signature for one workspace is none for another.
  RecordSigner(std::unique_ptr<const SigningSecret> source, std::string workspace);
  // With a secret that is known.
  RecordSigner(std::string secret, std::string workspace);

  // The object with its signature. An earlier signature is replaced. kInvalid: these bytes are no
  // JSON object. Fails as the secret does.
  Result<std::string> sign(std::string_view collection, std::string_view key,
                           std::string_view json) const;
  // Whether exactly these bytes were signed for this collection and key. False too when there is no
  // secret, or it cannot be used. Never makes one.
  bool verifies(std::string_view collection, std::string_view key, std::string_view bytes) const;

  // Why a record without a valid signature has no effect, and what to do: part of a sentence.
  std::string why_inert() const;

 private:
  std::shared_ptr<const std::string> known() const;

  const std::unique_ptr<const SigningSecret> source_;
  const std::string workspace_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::string> secret_;  // under mutex_; none: not asked for yet
};

// The object without its signature, if it has one.
std::string without_signature(std::string_view json);

}  // namespace skein
