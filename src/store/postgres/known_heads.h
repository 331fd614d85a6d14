// Heads of threads as a connection left them.
#pragma once

#include <optional>
#include <unordered_map>

#include "store/postgres/loading.h"

namespace skein::postgres {

// Whoever knows a thread's head need not ask for it before an append: it is enough if the server
// compares. Others may have written since; threads of which that turns out are asked for, for a
// while. Only costs time when it is wrong. One thread at a time.
class KnownHeads {
 public:
  // What is wanted, if nothing but growth is and all heads are known.
  std::optional<Loaded> recall(const Wanted& wanted);
  // As they are after a commit.
  void remember(const Loaded& loaded);
  // What was recalled for it is not so any more.
  void doubt(const Wanted& wanted);

 private:
  static constexpr std::size_t kMost = 10'000;
  static constexpr int kDoubts = 8;

  struct Entry {
    Head head;
    int doubts = 0;  // so often it is asked for
  };
  std::unordered_map<ThreadId, Entry> entries_;
};

}  // namespace skein::postgres
