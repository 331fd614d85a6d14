// Workspace trust: a folder is data until its user trusts the definitions in it.
//
// A definition is something in a workspace's files that can make Skein execute a program, send
// data, or choose a server: an agent, a file that an agent executes, or a member of the
// configuration file. It acts only when the user trusted exactly its bytes for exactly this
// workspace. A changed definition is inactive by itself; others keep working.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/trust_file.h"
#include "api/user_folders.h"
#include "core/file.h"
#include "skein/error.h"

namespace skein {

struct Definition {
  std::string name;                 // "agent:helper", "config:store", "file:tools/server.mjs"
  std::string digest;               // SHA-256 of the bytes that are parsed or executed
  std::string file;                 // where it stands
  std::vector<std::string> allows;  // what it can do, a line each
  // A file from which Claude Code takes hooks and servers. It can come with a folder: making an
  // agent does not trust it.
  bool is_claude_settings = false;
};

enum class TrustState { kTrusted, kNew, kChanged };

// The decisions of this user, and of the administrator, about one workspace. Reads the files again
// when they changed, so that a server notices what "skein trust" decides. Thread-safe.
class Trust {
 public:
  // kInvalid: the path of the workspace is not UTF-8, or the user has no folder for settings.
  static Result<std::shared_ptr<Trust>> of_workspace(const std::filesystem::path& workspace);

  // The canonical path of the workspace.
  const std::string& workspace() const { return workspace_; }

  // The decisions that were recorded for a path, which need not exist any more.
  static std::shared_ptr<Trust> of_recorded_path(std::string canonical);

  // kInvalid: a file with decisions cannot be used; then nothing is trusted. The administrator's
  // counts as empty where this user may not read it. kSystem: the decisions
  // of the administrator alone.
  Result<TrustState> state(std::string_view name, std::string_view digest,
                           FolderOwner owner = FolderOwner::kUser);
  // As state(), and kInvalid when it is not trusted: `what` is what the message calls it.
  Result<void> check(const Definition& definition, std::string_view what);
  // Everything that was ever trusted here, and not revoked.
  Result<WorkspaceGrants> all(FolderOwner owner = FolderOwner::kUser);

  // Trusts exactly these bytes, from now on.
  Result<void> grant(const std::vector<Definition>& definitions,
                     FolderOwner owner = FolderOwner::kUser);
  // Forgets the decision about one definition, or about all of them. False: there was none.
  Result<bool> revoke(std::string_view name, FolderOwner owner = FolderOwner::kUser);
  Result<bool> revoke_all(FolderOwner owner = FolderOwner::kUser);

 private:
  struct Source {
    std::filesystem::path file;
    bool system = false;  // the administrator's
    std::optional<FileStamp> stamp{};
    bool read = false;
    WorkspaceGrants grants{};  // those of this workspace
  };

  explicit Trust(std::string workspace);
  static bool is_withheld(const Source& source);
  Result<void> refresh_under_lock();

  const std::string workspace_;
  std::mutex mutex_;
  std::vector<Source> sources_;  // under mutex_; the user's first
};

// What to do about definitions that are not trusted: `run "skein trust"`.
std::string how_to_trust();

}  // namespace skein
