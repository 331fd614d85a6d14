// For the doctor: everything that is stored, compared with its checksums and with itself.
#pragma once

#include <functional>

#include "skein/store.h"
#include "store/postgres/pool.h"

namespace skein::postgres {

Result<CheckSummary> check_store(Pool& pool, const CheckOptions& options,
                                 const std::function<void(const Finding&)>& sink);

}  // namespace skein::postgres
