// Records of the collections.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "skein/store.h"
#include "store/postgres/pool.h"
#include "store/postgres/writer.h"

namespace skein::postgres {

Result<std::vector<Version>> write_records(Writer& writer, std::span<const RecordWrite> writes);

// A record that does not verify is left out, and told to `notice`.
Result<std::vector<Record>> scan_records(Pool& pool, const ScanRange& range,
                                         const std::function<void(const Finding&)>& notice);

}  // namespace skein::postgres
