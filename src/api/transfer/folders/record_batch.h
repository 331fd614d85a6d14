// Records that an import adds to a collection of the store, many to a write.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "skein/store.h"

namespace skein {

// Not thread-safe.
class RecordBatch {
 public:
  // Reads the keys of the collection.
  static Result<RecordBatch> open(Store& store, std::string_view collection, bool dry_run);

  // Whether the store has it, or it waits to be written.
  bool has(const std::string& key) const { return keys_.contains(key); }
  std::size_t size() const { return keys_.size(); }
  // The record is unsigned, and must not be there yet.
  Result<void> add(std::string key, std::string bytes);
  Result<void> flush();

 private:
  RecordBatch(Store& store, std::string_view collection, bool dry_run)
      : store_(&store), collection_(collection), dry_run_(dry_run) {}

  Store* store_;
  std::string collection_;
  bool dry_run_;
  std::unordered_set<std::string> keys_;
  std::vector<RecordWrite> writes_;
  std::size_t bytes_ = 0;
};

}  // namespace skein
