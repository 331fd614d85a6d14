// Appending events.
#pragma once

#include <span>
#include <vector>

#include "skein/store.h"
#include "store/postgres/writer.h"

namespace skein::postgres {

std::vector<Result<Appended>> append_events(Writer& writer, const StoreOptions& options,
                                            std::span<const Append> appends);

}  // namespace skein::postgres
