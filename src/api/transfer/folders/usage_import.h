// Takes usage.jsonl of another folder: what runs cost, a JSON object a line.
#pragma once

#include "api/transfer/folders/folder_import.h"

namespace skein {

// Each line becomes a record of the collection `usage`, with all its fields. Its key follows from
// the line, and from how many equal ones stand before it, so that doing it again adds nothing.
// Lines of a `jsonl:` store keep their keys.
Result<void> import_usage(const FolderImport& import);

}  // namespace skein
