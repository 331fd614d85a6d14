#include "api/user_folders.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "core/path_inside.h"
#include "core/quote.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

std::optional<fs::path> folder_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

// A folder that systemd made for Skein's own service. Other services that start Skein have folders
// of their own in these variables.
std::optional<fs::path> service_folder(const char* name) {
  const auto value = folder_variable(name);
  if (!value) return std::nullopt;
  const std::string text = value->string();  // several folders are joined with a colon
  fs::path folder = text.substr(0, text.find(':'));
  if (folder.filename() != "skein") return std::nullopt;
  return folder;
}

Result<fs::path> absolute_only(fs::path folder, const char* name) {
  if (folder.is_absolute()) return folder.lexically_normal();
  return fail(ErrorCode::kInvalid, std::string("the environment variable ") + name + " is " +
                                       quote(folder.string()) + "; it must be an absolute path");
}

}  // namespace

bool is_service() { return service_folder("CONFIGURATION_DIRECTORY").has_value(); }

Result<fs::path> config_folder(FolderOwner owner) {
  if (const auto service = service_folder("CONFIGURATION_DIRECTORY")) {
    return absolute_only(*service, "CONFIGURATION_DIRECTORY");
  }
  if (owner == FolderOwner::kSystem) return fs::path("/etc/skein");
  if (const auto config = folder_variable("XDG_CONFIG_HOME")) {
    return absolute_only(*config / "skein", "XDG_CONFIG_HOME");
  }
  if (const auto home = folder_variable("HOME")) {
    return absolute_only(*home / ".config" / "skein", "HOME");
  }
  return fail(
      ErrorCode::kInvalid,
      "neither XDG_CONFIG_HOME nor HOME is set: there is no folder for the user's settings");
}

Result<fs::path> secret_folder(FolderOwner owner) {
  if (const auto service = service_folder("STATE_DIRECTORY")) {
    return absolute_only(*service, "STATE_DIRECTORY");
  }
  if (owner == FolderOwner::kSystem) return fs::path("/var/lib/skein");
  return config_folder(owner);
}

std::vector<fs::path> config_folders() {
  std::vector<fs::path> folders;
  for (const FolderOwner owner : {FolderOwner::kUser, FolderOwner::kSystem}) {
    auto folder = config_folder(owner);
    if (folder && (folders.empty() || folders.front() != *folder)) {
      folders.push_back(std::move(*folder));
    }
  }
  return folders;
}

bool lies_inside_workspace(const fs::path& folder, const fs::path& workspace) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(folder, error);
  return is_inside(error ? folder : real, workspace);
}

}  // namespace skein
