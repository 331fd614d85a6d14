// For the doctor: everything that is stored, compared with its checksums and with itself.
#pragma once

#include <functional>

#include "skein/store.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

Result<CheckSummary> check_store(Readers& readers, Writer& writer, const CheckOptions& options,
                                 const std::function<void(const Finding&)>& sink);

}  // namespace skein::sqlite
