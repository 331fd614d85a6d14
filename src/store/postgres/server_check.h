// Whether a server and its tables keep what the store relies on. Asked when a store is opened.
#pragma once

#include "store/postgres/connection.h"

namespace skein::postgres {

// kInvalid names a table that is not as Skein makes it: missing, partitioned, distributed over
// nodes, foreign, unlogged, inherited, or without a column or unique index.
Result<void> check_tables(Connection& connection, const Settings& settings, Deadline deadline);

// kInvalid: the server's advisory locks do nothing. `holder` takes a lock that `other` must not
// get, and must see. Nothing is held afterwards.
Result<void> check_locks(Connection& holder, Connection& other, const Settings& settings,
                         Deadline deadline);

}  // namespace skein::postgres
