// Records that would make Skein act, and that the user of a workspace has not signed.
#pragma once

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

// Before the records of a store are copied to another: kInvalid, with the command that reviews
// them, if `from` belongs to a workspace (workspace_of_store), holds records that its user has not
// signed, and nothing in the store at `to_url` needs a signature, so that they would act there.
Result<void> check_copied_records(const Settings& settings, const std::string& from_url,
                                  Store& from, const std::string& to_url);

// The command by which a user of the workspace reviews and signs the records of that store.
std::string trust_command(const Settings& settings, const std::string& store_url);

}  // namespace skein
