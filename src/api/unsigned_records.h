// Records that would make Skein act, and that the user of a workspace has not signed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/settings.h"
#include "skein/error.h"
#include "skein/record_signer.h"
#include "skein/store.h"

namespace skein {

struct UnsignedRecord {
  std::string collection;
  std::string key;
  std::string bytes;
  Version version = 0;
  std::string description;  // what it would do, on one line; control characters are escaped
  std::string digest;       // SHA-256 over collection, key and bytes, in hex
};

// Whether records of this collection are signed: API keys, triggers, tasks, and runs that are open.
bool is_signed_collection(std::string_view collection);

// Those that `signer` does not verify, by collection and key. Left out is what has no effect with a
// signature either: revoked keys, cancelled tasks, and records that cannot be read.
Result<std::vector<UnsignedRecord>> list_unsigned_records(Store& store, const RecordSigner& signer);

// Signs exactly the bytes that were listed. kConflict: one of them changed since; then none of the
// batch that it was in is signed, and the list has to be made anew.
Result<void> sign_records(Store& store, const RecordSigner& signer,
                          std::span<const UnsignedRecord> records);

// The records that would act in the store at `to_url` once they are copied there, and that nobody
// vouched for: none where that store needs signatures, since they arrive without, and none of a
// server. In a workspace (workspace_of_store) those that its user has not signed; of a file in no
// workspace, all of them.
Result<std::vector<UnsignedRecord>> copied_unsigned(const Settings& settings,
                                                    const std::string& from_url, Store& from,
                                                    const std::string& to_url);
// kInvalid, with what to do, if there are any: in a workspace they are signed first; those of other
// files need `agreed`, the digest that the message names.
Result<void> check_copied_records(const Settings& settings, const std::string& from_url,
                                  const std::string& to_url,
                                  std::span<const UnsignedRecord> records,
                                  const std::optional<std::string>& agreed);

// The command by which a user of the workspace reviews and signs the records of that store.
std::string trust_command(const Settings& settings, const std::string& store_url);

}  // namespace skein
