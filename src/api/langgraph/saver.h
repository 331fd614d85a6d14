// Checkpoints of graphs that run elsewhere: blobs that nobody here looks into.
//
// For whoever has a graph of their own, with reducers and subgraphs that Skein does not know, and
// wants its state kept. A checkpoint is a record; the writes that belong to it are records beside
// it. Ids are the caller's own texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/store.h"

namespace skein::langgraph {

namespace limits {
inline constexpr std::size_t kMaxSaverIdBytes = 100;  // each of the names of a checkpoint
inline constexpr std::size_t kMaxSaverWrites = 1000;  // of one call
inline constexpr std::size_t kMaxSaverList = 1000;    // checkpoints in one answer
}  // namespace limits

struct CheckpointName {
  std::string thread;
  std::string space;  // "checkpoint_ns"; may be empty
  std::string id;     // they grow, by their bytes
};

struct SavedCheckpoint {
  CheckpointName name;
  std::string parent;      // empty: none
  std::string checkpoint;  // JSON as the caller gave it, such as {"type":…,"data": base64}
  std::string metadata;    // an object, which list() can filter by
};

struct SavedWrite {
  std::string task;
  std::int64_t index = 0;  // of the task's; negative ones are special, and replace others
  std::string json;        // as the caller gave it
};

struct SavedTuple {
  SavedCheckpoint saved;
  std::vector<std::string> writes;  // as they were given, by task and index
};

struct SaverQuery {
  std::optional<std::string> thread{};
  std::optional<std::string> space{};
  std::optional<std::string> before{};  // checkpoint id: only older ones
  std::string filter{};                 // an object; its members must equal the metadata's
  std::size_t limit = limits::kMaxSaverList;
};

// Thread-safe. Borrows the store. kInvalid names the rule and the value.
class Saver {
 public:
  explicit Saver(Store& store) : store_(store) {}

  // Replaces one of the same name.
  Result<void> put(const SavedCheckpoint& checkpoint);
  // A write that is there already stays, except where all of them are special. The checkpoint need
  // not be there yet.
  Result<void> put_writes(const CheckpointName& name, const std::vector<SavedWrite>& writes);
  // By its id, or else the newest of its thread and namespace. Nothing: there is none.
  Result<std::optional<SavedTuple>> get(const std::string& thread, const std::string& space,
                                        const std::optional<std::string>& id);
  // The newest first.
  Result<std::vector<SavedTuple>> list(const SaverQuery& query);
  // All checkpoints and writes of a thread.
  Result<void> remove(const std::string& thread);

 private:
  Result<SavedTuple> tuple_of(const Record& record);

  Store& store_;
};

}  // namespace skein::langgraph
