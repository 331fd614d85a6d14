// A change to a file of somebody else's, which people see before it is made.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

struct FileChange {
  std::filesystem::path file;
  std::string before;  // empty: there is no such file
  std::string after;
  bool changes() const { return before != after; }
};

// Nothing is written yet. `make` gets the text there is. Errors name the file.
Result<FileChange> plan_change(
    std::filesystem::path file,
    const std::function<Result<std::string>(std::string_view before)>& make);

// Writes it, durably. kConflict: the file is no longer as it was when this was planned.
Result<void> apply_change(const FileChange& change);

}  // namespace skein
