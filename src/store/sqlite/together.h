// Several writes in one transaction.
#pragma once

#include <functional>

#include "skein/store.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

Result<void> write_together(Writer& writer, const StoreOptions& options,
                            const std::function<void(Writes&)>& work);

}  // namespace skein::sqlite
