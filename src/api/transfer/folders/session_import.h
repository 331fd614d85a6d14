// Takes working sessions of a gitmem project.
#pragma once

#include "api/transfer/folders/folder_import.h"

namespace skein {

// From sessions.json in `folder`, the project's .gitmem from the source: those that were closed,
// with their lists of items, decisions and reflections. One that is here already stays as it is.
Result<void> import_sessions(const FolderImport& import, const std::string& folder);

}  // namespace skein
