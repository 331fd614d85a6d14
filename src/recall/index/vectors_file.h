// <agent>/embeddings.jsonl of a folder of JSONL threads: the vectors as lines that other programs
// read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recall/index/index_file.h"
#include "skein/clock.h"
#include "skein/event.h"
#include "skein/ids.h"

namespace skein {

struct VectorEntry {
  ThreadId thread;
  Seq seq = 0;
  Role role = Role::kUser;
  Timestamp time;
  std::string vector;  // vector_bytes
};

// {"threadId":…,"seq":…,"role":…,"timestamp":…,"model":…,"scale":…,"vector":[…]}: each component is
// its number times the scale.
std::string vector_line(const VectorEntry& entry, std::string_view model);

// Derived, and never flushed: `agents.file_bytes` of the index says how long the file was when they
// agreed last (null: never, −1: they do not), and where that is not so it is written anew. Lines of
// other programs are kept. Used by whoever has the embedding turn.
class VectorsFiles {
 public:
  explicit VectorsFiles(std::string folder) : folder_(std::move(folder)) {}
  bool wanted() const { return !folder_.empty(); }

  // Appends lines to the agent's file; answers its length then.
  Result<std::int64_t> append(IndexReading& reading, std::int64_t agent, std::string_view lines,
                              std::string_view model) const;
  // Writes the file anew, if it does not agree; answers its length then, or nothing if it did.
  Result<std::optional<std::int64_t>> mend(IndexReading& reading, std::int64_t agent,
                                           std::string_view model) const;

 private:
  std::string path_of(std::string_view agent) const;
  Result<std::int64_t> rewrite(IndexReading& reading, std::int64_t agent, const std::string& path,
                               std::string_view model) const;

  Result<void> keep_from_git(const std::string& path) const;

  const std::string folder_;
};

}  // namespace skein
