// Whether others on this machine can read or change what Skein keeps.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/settings.h"

namespace skein {

struct ExposedFiles {
  std::vector<std::filesystem::path> paths;  // a folder comes before what is in it
  bool writable = false;                     // others can change some of it
};

// What others can reach in .skein/, .gitmem/, workspace/threads/ and the files of the store: what
// is in a folder that is private counts as private. Links are left out, and so are .gitignore and
// config.json, which git puts into .skein/.
ExposedFiles find_exposed_files(const Settings& settings);

// Takes from others the rights to all of that, also inside folders that are private, as far as it
// belongs to this user. How many files and folders were changed; kIo names what could not be.
Result<std::size_t> make_files_private(const Settings& settings);

// One line for whoever runs a command, when .skein/ or the store is open to others; looks at
// nothing else. Nothing, if all is well.
std::optional<std::string> exposure_warning(const Settings& settings);

// A warning, in one line, before a store is created in an existing folder inside a git
// repository: `git add` would take it. Nothing where Skein keeps the folder from git, or the store
// is there. Of git's patterns it knows "*" alone.
std::optional<std::string> commit_warning(const std::string& store_url);

}  // namespace skein
