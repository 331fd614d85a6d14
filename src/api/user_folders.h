// Where Skein keeps what belongs to a user, or to a service, and never to a workspace.
#pragma once

#include <filesystem>
#include <vector>

#include "skein/error.h"

namespace skein {

enum class FolderOwner { kUser, kSystem };

// Whether systemd started this process as Skein's own service: its folders are those of no user.
bool is_service();

// Configuration and trust decisions. kUser: $CONFIGURATION_DIRECTORY (which systemd sets for a
// service), else $XDG_CONFIG_HOME/skein, else $HOME/.config/skein. kSystem:
// $CONFIGURATION_DIRECTORY, else /etc/skein. kInvalid: the variables name no absolute folder.
Result<std::filesystem::path> config_folder(FolderOwner owner = FolderOwner::kUser);

// The secret that signs records. kUser: $STATE_DIRECTORY (set by systemd), else the configuration
// folder of the user. kSystem: $STATE_DIRECTORY, else /var/lib/skein.
Result<std::filesystem::path> secret_folder(FolderOwner owner = FolderOwner::kUser);

// The configuration folders that count, most specific first: that of the user, then /etc/skein.
std::vector<std::filesystem::path> config_folders();

// Whether a folder of these lies inside the workspace, which is a canonical path: then its files
// may have come with the workspace, which would decide for its user.
bool lies_inside_workspace(const std::filesystem::path& folder,
                           const std::filesystem::path& workspace);

}  // namespace skein
