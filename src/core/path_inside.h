// Paths that must stay inside a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

// Whether `path` is `folder` or below it, by their names alone: neither may have ".." or links in
// it.
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder);

// The file or folder that `relative` names in `folder`, with all links resolved. kInvalid: the path
// is absolute, has ".." in it, or leads out of the folder through a link. kNotFound: there is
// nothing of that name. The message is a predicate without a subject: "must be …", "names …".
Result<std::string> resolve_inside(const std::string& folder, std::string_view relative);

// Whether a link on the way leads into /proc, as to "/proc/self/cwd": then the path may lead
// another process, which works in another folder, elsewhere.
bool differs_between_processes(const std::filesystem::path& path);

}  // namespace skein
