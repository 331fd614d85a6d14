#include "api/transfer/folders/record_batch.h"

#include "core/try.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::size_t kBatchRecords = 1000;
constexpr std::size_t kBatchBytes = 4 << 20;

}  // namespace

Result<RecordBatch> RecordBatch::open(Store& store, std::string_view collection, bool dry_run) {
  RecordBatch batch(store, collection, dry_run);
  SKEIN_TRY(scan_prefix(store, collection, "", [&](const Record& record) {
    batch.keys_.insert(record.key);
    return true;
  }));
  return batch;
}

Result<void> RecordBatch::add(std::string key, std::string bytes) {
  keys_.insert(key);
  bytes_ += bytes.size();
  writes_.push_back(put_record(collection_, std::move(key), std::move(bytes), Version{0}));
  if (writes_.size() < kBatchRecords && bytes_ < kBatchBytes) return {};
  return flush();
}

Result<void> RecordBatch::flush() {
  if (!writes_.empty() && !dry_run_) SKEIN_TRY(store_->write(writes_));
  writes_.clear();
  bytes_ = 0;
  return {};
}

}  // namespace skein
