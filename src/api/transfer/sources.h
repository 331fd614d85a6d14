// Finds the files that an import is about.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "api/transfer/line_file.h"
#include "skein/error.h"

namespace skein {

// The thread files behind a path, in a stable order: the path itself if it is a file; of a folder
// the threads in it (<id>.jsonl), in its threads/, in threads/ of the folders in it (a folder of
// agents), or of those in its agents/ (a workspace); and in it and below it, but not in folders
// that are hidden or of installed packages, the transcripts of other programs. Links that lead out
// of the folder, and files in threads/ whose names are no thread ids, are left out and reported.
// kNotFound: there is nothing at the path, or no thread in it.
Result<std::vector<std::filesystem::path>> find_thread_files(
    const std::filesystem::path& path, const std::function<void(FileProblem)>& left_out = {});

}  // namespace skein
