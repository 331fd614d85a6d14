// Listing threads.
#pragma once

#include <functional>

#include "skein/store.h"
#include "store/sqlite/known_threads.h"
#include "store/sqlite/readers.h"

namespace skein::sqlite {

Result<ThreadPage> list_threads(Readers& readers, KnownThreads& known, const ListQuery& query,
                                const std::function<void(const Finding&)>& notice);

}  // namespace skein::sqlite
