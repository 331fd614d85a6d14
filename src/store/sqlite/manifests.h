// Manifests as rows, with everything that is found by them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/sqlite.h"
#include "skein/thread.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

struct StoredThread {
  Manifest manifest;
  Head head;
  std::int64_t made = 0;  // g of its creation
};

// Nothing: no such thread. kDamaged: its manifest does not verify.
Result<std::optional<StoredThread>> load_thread(Database& database, ThreadId id);

Result<std::optional<ThreadId>> find_alias(Database& database, std::string_view alias);

// Writes a new thread's rows, all but its events; sets the manifest's version. Returns its head.
Result<Head> insert_thread(WriteContext& context, Manifest& manifest, std::int64_t listed);

// Writes a changed manifest over the one that was loaded; sets its version.
Result<void> replace_manifest(WriteContext& context, const StoredThread& old, Manifest& manifest);

// Deletes all rows of the thread, damaged or not. False: there was none.
Result<bool> delete_thread(WriteContext& context, ThreadId id);

}  // namespace skein::sqlite
