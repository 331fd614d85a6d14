// The user's secret that signs records, and the signer of a workspace.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/settings.h"
#include "api/user_folders.h"
#include "skein/error.h"
#include "skein/record_signer.h"

namespace skein {

// The file `secret` in `folder`: 64 hex digits, which only its owner can read. Two processes that
// make it at the same time agree on one. kInvalid, naming the file and what to do: it or its folder
// is a symbolic link, belongs to another user, can be read or written by others, or lies inside
// `workspace`.
std::unique_ptr<const SigningSecret> secret_in(std::filesystem::path folder,
                                               std::filesystem::path workspace);

// The signer of the records of a store: none, if the store is `postgres:` or `memory:`, or a file
// or folder outside the workspace. Reads and makes no secret yet. `owner`: whose secret; by default
// a service's for a workspace in its state folder, else the user's.
std::shared_ptr<const RecordSigner> signer_of_store(const Settings& settings,
                                                    std::string_view store_url,
                                                    std::optional<FolderOwner> owner = {});
// The folder whose workspace a store in files belongs to: that of the settings, if the store needs
// signatures there, else the nearest folder above the store that has a `.skein` or `.git`. Nothing:
// other stores, and files in no workspace. $HOME and the folders above it are none.
std::optional<std::filesystem::path> workspace_of_store(const Settings& settings,
                                                        std::string_view store_url);
// That of the store of the settings.
std::shared_ptr<const RecordSigner> workspace_signer(const Settings& settings);

}  // namespace skein
