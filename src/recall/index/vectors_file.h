// <agent>/embeddings.jsonl of a folder of JSONL threads: the vectors as lines that other programs
// read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recall/index/index_file.h"
#include "recall/index/line_appender.h"
#include "recall/index/vector_lines.h"

namespace skein {

// The format of the lines, as the index notes it when it has written all of them.
inline constexpr std::string_view kVectorsFormat = "vectors_format";
inline constexpr std::int64_t kCurrentVectorsFormat = 2;

// Derived, and never flushed: `agents.file_bytes` of the index says how long the file was when they
// agreed last (null: never, −1: they do not), and where that is not so it is written anew. Lines of
// other programs are kept. Used by whoever has the embedding turn.
class VectorsFiles {
 public:
  // Borrows the store.
  VectorsFiles(Store& store, std::string folder) : folder_(std::move(folder)), counter_(store) {}
  bool wanted() const { return !folder_.empty(); }

  // Appends lines to the agent's file; answers its length then.
  Result<std::int64_t> append(IndexReading& reading, std::int64_t agent,
                              const std::vector<VectorEntry*>& entries, std::string_view model);
  // Writes the file anew, if it does not agree; answers its length then, or nothing if it did.
  Result<std::optional<std::int64_t>> mend(IndexReading& reading, std::int64_t agent,
                                           std::string_view model);

 private:
  std::string path_of(std::string_view agent) const;
  Result<std::int64_t> rewrite(IndexReading& reading, std::int64_t agent, const std::string& path,
                               std::string_view model);
  Result<void> copy_index_lines(Database& db, std::int64_t agent, std::string_view model,
                                LineAppender& out);
  Result<void> keep_from_git(const std::string& path) const;

  const std::string folder_;
  MessageCounter counter_;
};

}  // namespace skein
