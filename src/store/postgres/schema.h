// The tables of a `postgres:` store, and how a database gets them.
#pragma once

#include "store/postgres/connection.h"

namespace skein::postgres {

// Brings the schema up to date. Any number of processes may do this at once. kInvalid: the server
// is too old, its encoding is not UTF-8, or a later version of Skein made the tables.
Result<void> prepare_schema(Connection& connection, const Settings& settings, Deadline deadline);

// What our advisory locks are told from those of others by, and of other schemas.
std::int64_t feed_lock_class(const Settings& settings);
// Of the lock that those share who listen for hints of changes, and of those who look for them.
std::int64_t listener_lock_class(const Settings& settings);
// Where hints of changes are sent to.
std::string feed_channel(const Settings& settings);

}  // namespace skein::postgres
