// What git tells of the folder that somebody works in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "skein/work_sessions.h"

namespace skein {

// The commit that is checked out; empty where there is none, or no repository, or no git.
std::string head_commit(const std::filesystem::path& folder);

// Where the repository was cloned from; empty likewise.
std::string origin_url(const std::filesystem::path& folder);

// Nothing, outside of repositories. What git refuses is told in `warnings`. The news are those
// since `last` ended; without it there are none.
std::optional<RepositoryNews> repository_news(const std::filesystem::path& folder,
                                              const WorkSession* last,
                                              std::vector<std::string>& warnings);

}  // namespace skein
