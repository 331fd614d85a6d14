#include "api/trust.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFileName = "trust.json";

Result<std::string> canonical_path(const fs::path& workspace) {
  std::error_code error;
  const fs::path canonical = fs::canonical(workspace, error);
  if (error) {
    return fail(ErrorCode::kInvalid,
                fmt::format("workspace {}: {}", workspace.string(), error.message()));
  }
  if (!valid_utf8(canonical.string())) {
    return fail(ErrorCode::kInvalid, fmt::format("workspace {}: the path is not UTF-8, so that "
                                                 "nothing in it can be trusted",
                                                 quote(canonical.string(), 200)));
  }
  return canonical.string();
}

}  // namespace

Trust::Trust(std::string workspace) : workspace_(std::move(workspace)) {
  const auto system = config_folder(FolderOwner::kSystem);
  for (const fs::path& folder : config_folders()) {
    if (lies_inside_workspace(folder, workspace_)) continue;
    sources_.push_back({.file = folder / kFileName, .system = system && folder == *system});
  }
}

Result<std::shared_ptr<Trust>> Trust::of_workspace(const fs::path& workspace) {
  SKEIN_ASSIGN(std::string canonical, canonical_path(workspace));
  return of_recorded_path(std::move(canonical));
}

std::shared_ptr<Trust> Trust::of_recorded_path(std::string canonical) {
  return std::shared_ptr<Trust>(new Trust(std::move(canonical)));
}

// The administrator's decisions need not be there for everybody to read. A service has no others.
bool Trust::is_withheld(const Source& source) {
  return source.system && !is_service() &&
         ::faccessat(AT_FDCWD, source.file.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES;
}

Result<void> Trust::refresh_under_lock() {
  for (Source& source : sources_) {
    if (is_withheld(source)) {
      source.grants.clear();
      source.read = false;
      continue;
    }
    SKEIN_ASSIGN(const auto stamp, stat_file(source.file.string()));
    if (source.read && stamp == source.stamp) continue;
    SKEIN_ASSIGN(TrustGrants grants, read_trust_file(source.file));
    source.grants.clear();
    if (auto found = grants.find(workspace_); found != grants.end()) {
      source.grants = std::move(found->second);
    }
    source.stamp = stamp;
    source.read = true;
  }
  return {};
}

Result<TrustState> Trust::state(std::string_view name, std::string_view digest, FolderOwner owner) {
  const std::lock_guard lock(mutex_);
  SKEIN_TRY(refresh_under_lock());
  TrustState state = TrustState::kNew;
  for (const Source& source : sources_) {
    if (owner == FolderOwner::kSystem && !source.system) continue;
    const auto found = source.grants.find(name);
    if (found == source.grants.end()) continue;
    if (found->second.digest == digest) return TrustState::kTrusted;
    state = TrustState::kChanged;
  }
  return state;
}

Result<void> Trust::check(const Definition& definition, std::string_view what) {
  SKEIN_ASSIGN(const TrustState known, state(definition.name, definition.digest));
  if (known == TrustState::kTrusted) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} is not trusted: {} {}; {}", what, definition.file,
                          known == TrustState::kChanged ? "changed since it was trusted"
                                                        : "was never trusted on this machine",
                          how_to_trust()));
}

Result<WorkspaceGrants> Trust::all(FolderOwner owner) {
  const std::lock_guard lock(mutex_);
  SKEIN_TRY(refresh_under_lock());
  WorkspaceGrants grants;
  for (const Source& source : sources_) {
    if (owner == FolderOwner::kSystem && !source.system) continue;
    grants.insert(source.grants.begin(), source.grants.end());
  }
  return grants;
}

Result<void> Trust::grant(const std::vector<Definition>& definitions, FolderOwner owner) {
  SKEIN_ASSIGN(const fs::path folder, config_folder(owner));
  if (lies_inside_workspace(folder, workspace_)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: it lies inside the workspace {}, which may have brought it; set "
                            "XDG_CONFIG_HOME to a folder outside it",
                            (folder / kFileName).string(), workspace_));
  }
  return change_trust_file(folder / kFileName, owner, [&](TrustGrants& grants) {
    const Timestamp now = system_clock().now();
    for (const Definition& definition : definitions) {
      grants[workspace_][definition.name] = {definition.digest, definition.allows, now};
    }
  });
}

Result<bool> Trust::revoke(std::string_view name, FolderOwner owner) {
  SKEIN_ASSIGN(const fs::path folder, config_folder(owner));
  bool found = false;
  SKEIN_TRY(change_trust_file(folder / kFileName, owner, [&](TrustGrants& grants) {
    const auto workspace = grants.find(workspace_);
    if (workspace == grants.end()) return;
    found = workspace->second.erase(std::string(name)) > 0;
    if (workspace->second.empty()) grants.erase(workspace);
  }));
  return found;
}

Result<bool> Trust::revoke_all(FolderOwner owner) {
  SKEIN_ASSIGN(const fs::path folder, config_folder(owner));
  bool found = false;
  SKEIN_TRY(change_trust_file(folder / kFileName, owner,
                              [&](TrustGrants& grants) { found = grants.erase(workspace_) > 0; }));
  return found;
}

std::string how_to_trust() { return "run \"skein trust\" to see what it does and allow it"; }

}  // namespace skein
