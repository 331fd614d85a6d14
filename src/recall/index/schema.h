// What is in an index file. docs/formats.md describes it.
#pragma once

#include "core/sqlite.h"

namespace skein {

// Whatever changes the tables, or what a message is found by, is another format: an index of any
// other is emptied.
inline constexpr int kIndexFormat = 1;
inline constexpr std::int32_t kIndexApplication = 0x536b5265;  // "SkRe"

// Makes the tables, unless they are there in this format. kInvalid: the file is another
// application's. kDamaged: it has other tables than these.
Result<void> prepare_index(Database& db);
// Removes everything, in the transaction that is under way.
Result<void> make_tables_anew(Database& db);

}  // namespace skein
