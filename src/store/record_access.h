// Records of the store, as the parts that keep them there use them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/record_signer.h"
#include "skein/store.h"

namespace skein {

// Delivers the records whose keys begin so, page by page, in the order of their keys or backwards,
// until the sink says no.
Result<void> scan_prefix(Store& store, std::string_view collection, std::string_view prefix,
                         const std::function<bool(const Record&)>& sink,
                         Direction direction = Direction::kForward);

RecordWrite put_record(std::string_view collection, std::string key, std::string bytes,
                       std::optional<Version> expect_version = std::nullopt);
RecordWrite delete_record(std::string_view collection, std::string key);

// --- Records that make Skein act; a signer of nullptr: all of them count ---

// Whether it may have an effect.
bool record_counts(const RecordSigner* signer, std::string_view collection, const Record& record);
// A record that counts. Fails as the signer does.
Result<RecordWrite> put_signed(const RecordSigner* signer, std::string_view collection,
                               std::string key, std::string json,
                               std::optional<Version> expect_version = std::nullopt);
// Fails as put_signed() would: asked before a thread is made that would be left without its record.
Result<void> check_signer(const RecordSigner* signer);
// kConflict: that record does not count. `what` names it: "task …".
Error record_is_inert(const RecordSigner& signer, std::string_view what);

// Writes what `make` reads and makes; again, when others wrote in between.
Result<void> write_again_on_conflict(Store& store,
                                     const std::function<Result<std::vector<RecordWrite>>()>& make);

// A name as a part of a key: no "/" in it, and different ones stay different.
std::string key_part(std::string_view name);

}  // namespace skein
