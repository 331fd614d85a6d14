// One record by its key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skein/store.h"

namespace skein {

// Nothing, when there is none.
Result<std::optional<Record>> find_record(Store& store, std::string_view collection,
                                          std::string_view key);

}  // namespace skein
