#include "git/submodules.h"

#include <algorithm>
#include <filesystem>

#include "core/file.h"
#include "core/try.h"
#include "git/command.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSubmodules = 64;
constexpr std::size_t kMaxModulesBytes = std::size_t{1} << 20;
constexpr std::string_view kLinkMode = "160000 ";

bool stays_below(const fs::path& path) {
  return path.is_relative() && !path.empty() && path == path.lexically_normal() &&
         *path.begin() != ".." && *path.begin() != ".";
}

// What the file calls "submodule.NAME.path".
Result<std::vector<std::string>> named_paths(const std::string& work_tree) {
  std::vector<std::string> paths;
  const std::string file = work_tree + "/.gitmodules";
  SKEIN_ASSIGN(const auto stamp, stat_file(file));
  if (!stamp || stamp->size > kMaxModulesBytes) return paths;
  SKEIN_ASSIGN(const Finished asked,
               run_git(work_tree, {"config", "--file", file, "--no-includes", "-z", "--get-regexp",
                                   "^submodule\\..*\\.path$"}));
  for (const std::string& piece : split_nul(asked.out)) {
    const std::size_t end = piece.find('\n');
    if (end == std::string::npos || !stays_below(piece.substr(end + 1))) continue;
    if (paths.size() < kMostSubmodules) paths.push_back(piece.substr(end + 1));
  }
  return paths;
}

}  // namespace

Result<std::vector<std::string>> submodules(const SealedRepository& repository) {
  SKEIN_ASSIGN(const auto paths, named_paths(repository.work_tree()));
  if (paths.empty()) return paths;
  std::vector<std::string> arguments = {"ls-files", "--stage", "-z", "--"};
  for (const std::string& path : paths) arguments.push_back(":(top,literal)" + path);
  SKEIN_ASSIGN(const std::string out, repository.output(std::move(arguments)));
  std::vector<std::string> found;
  for (const std::string& entry : split_nul(out)) {
    // "160000 ID STAGE\tPATH"
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with(kLinkMode) || tab == std::string::npos) continue;
    const std::string path = entry.substr(tab + 1);
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
  }
  return found;
}

}  // namespace skein
