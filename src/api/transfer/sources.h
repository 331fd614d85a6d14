// Finds the files that an import is about.
#pragma once

#include <filesystem>
#include <vector>

#include "skein/error.h"

namespace skein {

// The thread files behind a path, in a stable order: the path itself if it is a file; of a folder
// the threads in it (<id>.jsonl), in its threads/, or in threads/ of the folders in it (a workspace
// of agents); and in it and below it, but not in folders that are hidden or of installed packages,
// the transcripts of other programs. kNotFound: there is nothing at the path, or no thread in it.
Result<std::vector<std::filesystem::path>> find_thread_files(const std::filesystem::path& path);

}  // namespace skein
