// Signatures of records that make Skein act: triggers, tasks, API keys and open runs.
//
// A database can arrive with a folder that somebody else made. Records in it are data; those that
// would start a run, answer a caller or continue a run count only when they carry the signature of
// this user for this workspace. A signature is the last member of the record's JSON object,
// "hmac": 64 hex digits of HMAC-SHA256 over workspace, collection, key and the rest of the bytes.
#pragma once

#include <string>
#include <string_view>

namespace skein {

// Immutable and thread-safe.
class RecordSigner {
 public:
  // `secret` is the user's own, kept outside every workspace; `workspace` its canonical path.
  RecordSigner(std::string secret, std::string workspace);

  // The object with its signature. An earlier signature is replaced.
  std::string sign(std::string_view collection, std::string_view key, std::string_view json) const;
  // Whether exactly these bytes were signed for this collection and key.
  bool verifies(std::string_view collection, std::string_view key, std::string_view bytes) const;

 private:
  const std::string secret_;
  const std::string workspace_;
};

// The object without its signature, if it has one.
std::string without_signature(std::string_view json);

}  // namespace skein
