// Listing threads.
#pragma once

#include <functional>

#include "skein/store.h"
#include "store/postgres/pool.h"

namespace skein::postgres {

Result<ThreadPage> list_threads(Pool& pool, const ListQuery& query,
                                const std::function<void(const Finding&)>& notice);

}  // namespace skein::postgres
