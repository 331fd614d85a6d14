// Creating, updating and removing threads.
#pragma once

#include "skein/store.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

Result<Manifest> create_thread(JobRunner& writer, const StoreOptions& options,
                               const NewThread& request);
Result<Manifest> update_thread(JobRunner& writer, const StoreOptions& options, ThreadId id,
                               const ManifestPatch& patch, const UpdateOptions& update);
Result<bool> remove_thread(JobRunner& writer, ThreadId id, const UpdateOptions& options);

}  // namespace skein::sqlite
