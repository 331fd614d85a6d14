// What strace wrote down: which system calls a program made, and in which order it acknowledged.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skein::crash {

struct TracedCall {
  int thread = 0;
  std::string name;
  std::string line;  // all of it, paths included
  bool failed = false;
  bool injected = false;
};

// Calls that strace had to write in two halves count once, where they ended.
std::vector<TracedCall> parse_trace(std::string_view text);

// For each of the calls that touch a path under `folder`: which ones of their thread (1, 2, …) do,
// over all threads.
std::map<std::string, std::vector<int>> calls_under(const std::vector<TracedCall>& trace,
                                                    const std::string& folder);

// What is wrong with a run in which a flush failed: acknowledgements after it by the same opened
// store, and flushes of the same file again. Empty when nothing is. What fails while a store is
// being opened, before the journal says "opened", promises nothing; and of the operation that met
// the failure, parts that were flushed apart from it may be acknowledged.
// A folder whose names do not change while the store is open, and that was flushed while it was
// being opened, may fail to be flushed again (SQLite does that, and does not look at the answer).
std::vector<std::string> broken_flush_promises(const std::vector<TracedCall>& trace,
                                               const std::string& settled_folder = {});

}  // namespace skein::crash
