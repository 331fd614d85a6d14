// Takes triggers of a Nova workspace; they arrive unsigned and disabled.
#pragma once

#include "api/transfer/folders/folder_import.h"

namespace skein {

// From triggers.json, and from agents/ID/triggers.json of the older layout. A trigger's id follows
// from its agent and its id there: one that is here already stays as it is.
Result<void> import_triggers(const FolderImport& import);

}  // namespace skein
