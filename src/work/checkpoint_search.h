// Which checkpoints a query means.
#pragma once

#include <string>
#include <vector>

#include "work/checkpoint_cache.h"

namespace skein {

// A query, taken apart once.
class CheckpointMatcher {
 public:
  explicit CheckpointMatcher(const CheckpointQuery& query);
  bool operator()(const IndexedCheckpoint& checkpoint) const;

 private:
  const CheckpointQuery& query_;
  std::vector<std::string> words_;  // each after a space
  std::vector<std::string> tags_;   // folded
  std::string worker_;              // folded
  bool unanswerable_;               // something was asked for that has no words in it
};

}  // namespace skein
