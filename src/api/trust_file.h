// The file that holds a user's trust decisions: which definitions of which workspaces may act.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/user_folders.h"
#include "skein/clock.h"
#include "skein/error.h"

namespace skein {

// One definition as it was when its user trusted it.
struct TrustGrant {
  std::string digest;
  std::vector<std::string> allows;  // what it could do then, for the next comparison
  Timestamp granted_at;
};

using WorkspaceGrants = std::map<std::string, TrustGrant, std::less<>>;   // by definition
using TrustGrants = std::map<std::string, WorkspaceGrants, std::less<>>;  // by canonical path

// A missing file is empty. kInvalid: the file belongs to somebody else or can be written by others,
// is a link, or is not what write_trust_file wrote.
Result<TrustGrants> read_trust_file(const std::filesystem::path& file);

// Reads, changes and replaces the file under a lock, so that two processes lose nothing. Makes the
// file (0600) and its folder (0700); those of kSystem are for services of any user to read (0644,
// 0755), and are written as root if root started the process.
Result<void> change_trust_file(const std::filesystem::path& file, FolderOwner owner,
                               const std::function<void(TrustGrants&)>& change);

}  // namespace skein
