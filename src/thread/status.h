// The moves between statuses, as changes of a manifest. Nothing here touches a store.
#pragma once

#include "skein/error.h"
#include "skein/thread.h"
#include "skein/thread_manager.h"

namespace skein {

bool is_open(ThreadStatus status);

// Each is kConflict where the rules do not allow the move; an empty patch: it is so already.
Result<ManifestPatch> plan_close(const Manifest& manifest, const CloseOptions& options,
                                 Timestamp now);
Result<ManifestPatch> plan_archive(const Manifest& manifest, const ArchiveOptions& options,
                                   Timestamp now);
Result<ManifestPatch> plan_restore(const Manifest& manifest);
Result<ManifestPatch> plan_status(const Manifest& manifest, ThreadStatus status, Timestamp now);

// kConflict, unless messages go into the thread.
Result<void> check_takes_messages(const Manifest& manifest);

}  // namespace skein
