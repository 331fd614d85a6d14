// How far the index is behind the store.
#pragma once

#include "recall/index/index_file.h"
#include "recall/index/names.h"
#include "skein/store.h"

namespace skein {

struct Pending {
  std::uint64_t count = 0;
  bool exact = true;  // messages; otherwise events, of which not all may have been counted
};

// Looks at a few thousand events at most.
Result<Pending> count_pending(Store& store, IndexFile& file, const AgentNames& agents);

}  // namespace skein
