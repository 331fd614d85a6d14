// Changes of a thread's file. All of it happens under the thread's lock.
#pragma once

#include <string>

#include "store/jsonl/catalog.h"
#include "store/jsonl/folder.h"
#include "store/jsonl/thread_state.h"

namespace skein::jsonl {

class Writer {
 public:
  Writer(Folder& folder, Catalog& catalog) : folder_(folder), catalog_(catalog) {}

  // Brings the state's view up to what the file is now. False: there is no such thread. kDamaged:
  // its line 1 cannot be read, and there is nothing to mend it with.
  Result<bool> refresh(ThreadState& state);
  // The same, with line 1 read again: others change it without changing the size.
  Result<bool> refresh_head(ThreadState& state);

  // Removes the torn rest of a line, which is kept under .skein/torn/, and gives the last line its
  // newline back if that was damaged.
  Result<void> mend_end(ThreadState& state);

  // Appends lines after the last one. On an error nothing of them is there, unless the flush
  // failed.
  Result<void> append(ThreadState& state, std::string lines);

  // Writes line 1 anew, in place if it fits. The view is as the file after it.
  Result<void> write_head(ThreadState& state, Manifest manifest);

  // Gives line 1 the time of the last event, if that is later. What one reads stays as it was, and
  // so does the version.
  Result<void> settle_head(ThreadState& state);

  // The same, and moves the file to the folder of the manifest's agent, which decides whose it is:
  // after a crash line 1 may be ahead of it. The view is empty after it.
  Result<void> move(ThreadState& state, const Manifest& manifest);

  // Mends line 1 from what was to be written when the writer died.
  Result<void> recover_head(ThreadState& state, const ThreadFile& file, Head& head);

 private:
  Result<bool> open(ThreadState& state);
  Result<void> overwrite_head(ThreadState& state, const std::string& line);
  Result<void> copy_with_head(ThreadState& state, const std::string& line);

  Folder& folder_;
  Catalog& catalog_;
};

}  // namespace skein::jsonl
