// Takes checkpoints of another workspace into this one.
#pragma once

#include <filesystem>

#include "api/settings.h"
#include "api/transfer/import.h"

namespace skein {

// Whether there are checkpoints in the folder: in its workspace/threads/ or the archive in there,
// in its older workspace/checkpoints/, or directly in it.
bool holds_checkpoints(const std::filesystem::path& folder);

struct CheckpointImportSummary {
  std::uint64_t imported = 0;    // that were not there
  std::uint64_t present = 0;     // that were there, the same
  std::uint64_t conflicts = 0;   // that are there with another content; left as they were
  std::uint64_t unreadable = 0;  // files that are no checkpoints
  std::uint64_t redacted = 0;    // credentials taken out of what was written
  std::uint64_t sidecars = 0;    // changesets, and the pointer to the newest handoff; not imported

  CheckpointImportSummary& operator+=(const CheckpointImportSummary& other);
};

// Copies each checkpoint byte for byte, redacted credentials aside; one of the older form gets the
// newer one, with all its fields, and one of an archive is no longer in one. Doing it again imports
// only what is new. The source is only read, and never left through a link. If it is the workspace
// itself, all of them are there already.
Result<CheckpointImportSummary> import_checkpoints(const Settings& settings,
                                                   const std::filesystem::path& folder,
                                                   const ImportOptions& options);

}  // namespace skein
