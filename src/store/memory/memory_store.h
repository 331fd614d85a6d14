// Maps in RAM: for tests, and the oracle that the other backends are compared with.
#pragma once

#include <memory>

#include "skein/store.h"

namespace skein {

std::unique_ptr<Store> make_memory_store(StoreOptions options);

}  // namespace skein
