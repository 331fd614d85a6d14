// Records of the collections.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "skein/store.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

Result<std::vector<Version>> write_records(JobRunner& writer, std::span<const RecordWrite> writes);

// A record that does not verify is left out, and told to `notice`.
Result<std::vector<Record>> scan_records(Readers& readers, KnownRecords& known,
                                         const ScanRange& range,
                                         const std::function<void(const Finding&)>& notice);

}  // namespace skein::sqlite
