// Looks at the write-ahead log before SQLite does.
#pragma once

#include <optional>
#include <string>

#include "skein/store.h"

namespace skein::sqlite {

// SQLite takes the first frame that does not meet its checksum for the end of the log, and says
// nothing of what comes after it. After a crash that is right: it is what was being written. After
// damage it is not: commits that were acknowledged are gone. This says that there is something
// behind the end, and how much. Nothing, when the log ends as it should. The caller keeps writers
// out.
std::optional<Finding> examine_log(const std::string& database_path);

}  // namespace skein::sqlite
