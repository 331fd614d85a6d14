// The `sqlite:` backend: one database file, safe for several processes.
#pragma once

#include <memory>
#include <string>

#include "skein/store.h"

namespace skein {

// Makes the file and its folders when they are not there. Beside FILE lie FILE.lock, which keeps
// writers apart, and while it is in use FILE-wal and FILE-shm.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, StoreOptions options);

}  // namespace skein
