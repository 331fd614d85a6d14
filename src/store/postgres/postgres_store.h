// The `postgres:` backend: one database, any number of processes on any number of machines.
#pragma once

#include <memory>
#include <string>

#include "skein/store.h"

namespace skein {

// Makes the tables when they are not there. `url` is what libpq understands, and what
// store/postgres/settings.h adds to that.
Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, StoreOptions options);

}  // namespace skein
