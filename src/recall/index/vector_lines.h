// Lines of <agent>/embeddings.jsonl, as Skein and other programs write them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/event.h"
#include "skein/ids.h"
#include "skein/store.h"

namespace skein {

struct VectorEntry {
  ThreadId thread;
  Seq seq = 0;
  // Among the user and assistant messages of the thread's log, from 0; absent: not counted yet.
  std::optional<std::uint64_t> index{};
  Role role = Role::kUser;
  std::string text{};
  Timestamp time;
  std::string vector;  // vector_bytes
};

// {"threadId":…,"messageIndex":…,"role":…,"text":…,"embedding":[…],"timestamp":…,"seq":…,"model":…}
// Empty for a message that was not counted.
std::string vector_line(const VectorEntry& entry, std::string_view model);

// Whether a line is one that Skein wrote; version 0.1 wrote "scale" and "vector" instead of text
// and embedding.
bool is_own_vector_line(const std::string& line);

// The thread that a line is about; nothing, if it names none.
std::optional<ThreadId> thread_of_vector_line(std::string_view line);

// Calls `visit` with each line that is not empty, until it answers false. A file that does not
// exist has no lines, and neither has what is no regular file. A symbolic link is an error, and so
// is a line longer than any vector, so that no file takes all the memory.
Result<void> each_vector_line(const std::string& path,
                              const std::function<Result<bool>(const std::string& line)>& visit);

// Fills in the index and text of messages. Goes on from where it was in a thread, so that a thread
// that grows is not read from its beginning each time. Not thread-safe.
class MessageCounter {
 public:
  explicit MessageCounter(Store& store) : store_(store) {}

  // Entries of one thread by seq. What the store no longer has stays without an index.
  Result<void> count(ThreadId thread, const std::map<Seq, VectorEntry*>& entries);
  // Begins with the first events again.
  void start_over() { positions_.clear(); }

 private:
  struct Position {
    Seq seq = 0;              // events up to this one were counted
    std::uint64_t count = 0;  // messages among them
  };

  Store& store_;
  std::map<ThreadId, Position> positions_;
};

}  // namespace skein
