// What a crash test writes: an endless, seeded list of operations for each writer, which the
// verifier makes again to know what must be there.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "skein/store.h"

namespace skein::crash {

struct Workload {
  std::uint64_t seed = 1;
  int writers = 4;
  int shared_threads = 3;        // written by all writers; each writer has one of its own besides
  bool one_thread_only = false;  // nothing but single appends to the first shared thread

  ThreadId shared_id(int index) const;
  ThreadId own_id(int writer) const;
};

enum class OpKind { kCreateOwn, kAppend, kUpdate, kRecords, kCreate, kRemove, kLease };

struct Op {
  OpKind kind = OpKind::kAppend;
  int writer = 0;
  std::uint64_t number = 0;
  ThreadId thread;                  // all but kAppend and kRecords
  std::vector<ThreadId> targets;    // kAppend: the thread of each part
  std::vector<Event> events;        // kAppend, kCreate: with (writer, number, part) in the metadata
  ManifestPatch patch;              // kUpdate, kCreate
  std::vector<RecordWrite> writes;  // kRecords: always the same keys for the same group
};

// The operations of one writer, in order. The same workload and writer give the same operations.
class Script {
 public:
  Script(const Workload& workload, int writer);
  Op next();

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  OpKind choose_kind();
  void fill_append(Op& op);
  void fill_records(Op& op);
  ThreadId any_thread();

  const Workload workload_;
  const int writer_;
  std::mt19937_64 random_;
  std::uint64_t number_ = 0;
  std::vector<ThreadId> removable_;  // created by this writer and not yet removed
};

// The number of an event in the workload: who wrote it, in which operation, as which part.
struct Origin {
  int writer = 0;
  std::uint64_t number = 0;
  std::size_t part = 0;
  friend auto operator<=>(const Origin&, const Origin&) = default;
};
std::string str(const Origin& origin);
Json origin_metadata(const Origin& origin);
// Nothing, if it was not written by a workload.
std::optional<Origin> parse_origin(const Json& metadata);

// The collection that kRecords writes.
inline constexpr std::string_view kCollection = "crash";

}  // namespace skein::crash
