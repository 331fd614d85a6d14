#include "store/find_record.h"

#include "core/try.h"

namespace skein {

Result<std::optional<Record>> find_record(Store& store, std::string_view collection,
                                          std::string_view key) {
  ScanRange range;
  range.collection = collection;
  range.from = key;
  range.limit = 1;
  SKEIN_ASSIGN(auto records, store.scan(range));
  if (records.empty() || records.front().key != key) return std::nullopt;
  return std::move(records.front());
}

}  // namespace skein
