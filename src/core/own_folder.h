// Folders that Skein makes for its own files: for this user alone, and not for git.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/file.h"

namespace skein {

// The folder for what Skein keeps beside the files of a workspace or a store.
inline constexpr std::string_view kOwnFolderName = ".skein";

// Makes the folder for a store's files, with the folders above it. A folder called .skein gets a
// .gitignore that leaves only itself and config.json to git, whoever made the folder; any other
// gets one that leaves nothing, if it is new. An existing .skein that holds nothing but these two,
// as git or a user made it, becomes private (0700). A .gitignore that is there stays as it is.
Result<void> make_store_folder(const std::string& path, Flusher& flusher);

// FOLDER/.skein by make_store_folder.
Result<void> make_own_folder(const std::string& folder, Flusher& flusher);

// Writes FOLDER/.gitignore, unless there is one.
Result<void> ignore_in_git(const std::string& folder, std::string_view lines, Flusher& flusher);

// Whether the folder holds nothing of Skein's yet: at most .gitignore and config.json.
bool is_unused_own_folder(const std::string& path);

// Called once, when FOLDER/.skein is made by this process. Thread-safe.
void on_own_folder_made(const std::string& folder, std::function<void()> notice);

}  // namespace skein
