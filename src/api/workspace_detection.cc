#include "api/workspace_detection.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "core/confined_path.h"
#include "core/file.h"
#include "core/own_folder.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxGitFile = 8192;

std::string user_name(uid_t user) {
  std::array<char, 4096> buffer{};
  struct passwd entry{};
  struct passwd* found = nullptr;
  ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? fmt::format("{} ({})", entry.pw_name, user) : fmt::to_string(user);
}

// Both the link and what it leads to, where it is one.
Result<void> check_owner(const fs::path& path) {
  for (const auto look : {::lstat, ::stat}) {
    struct stat st{};
    if (look(path.c_str(), &st) != 0) continue;
    if (st.st_uid == ::geteuid() || st.st_uid == 0) continue;
    return fail(
        ErrorCode::kInvalid,
        fmt::format(
            "{} belongs to user {}, not to you ({}) or root; Skein does not use a workspace "
            "that another user owns. Run skein as that user{}, or name another folder with "
            "--workspace",
            path.string(), user_name(st.st_uid), user_name(::geteuid()),
            ::geteuid() == 0 ? " (to trust a service's workspace, run \"skein trust "
                               "--system PATH\")"
                             : ""));
  }
  return {};
}

std::optional<fs::path> home_folder() {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return std::nullopt;
  std::error_code error;
  fs::path canonical = fs::canonical(home, error);
  if (error) return std::nullopt;
  return canonical;
}

// Strictly.
bool is_below(const fs::path& path, const fs::path& folder) {
  if (path == folder) return false;
  const auto [rest, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// What makes a folder of a repository a workspace; nothing, if it is none.
std::optional<fs::path> mark_of(const fs::path& folder, bool in_repository) {
  if (is_folder(folder / kOwnFolderName)) return folder / kOwnFolderName;
  if (!in_repository) return std::nullopt;
  for (const char* mark : {".gitmem", "workspace/threads"}) {
    if (is_folder(folder / mark)) return folder / mark;
  }
  return std::nullopt;
}

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// The path that a small file of git's holds, as it is there; nothing, if it is none.
std::optional<fs::path> path_in(const fs::path& file, std::string_view before = "") {
  const auto text = read_file(file.string(), kMaxGitFile);
  if (!text || !*text || !(*text)->starts_with(before)) return std::nullopt;
  const std::string path = without_line_end((*text)->substr(before.size()));
  if (path.empty() || path.find('\0') != std::string::npos) return std::nullopt;
  std::error_code error;
  fs::path found = fs::canonical(file.parent_path() / path, error);
  if (error) return std::nullopt;
  return found;
}

// The main checkout of a linked worktree; nothing, if `root` is none. A folder can claim to belong
// to any repository, so the repository must claim the folder, too.
std::optional<fs::path> main_checkout(const fs::path& root) {
  const auto git_folder = path_in(root / ".git", "gitdir: ");
  if (!git_folder) return std::nullopt;
  const auto common = path_in(*git_folder / "commondir");
  const auto back = path_in(*git_folder / "gitdir");
  if (!common || !back || *back != root / ".git") return std::nullopt;
  if (git_folder->parent_path() != *common / "worktrees") return std::nullopt;
  // A bare repository has no checkout.
  if (common->filename() != ".git" || common->parent_path() == root) return std::nullopt;
  return common->parent_path();
}

std::optional<fs::path> repository_root(const fs::path& start) {
  for (fs::path folder = start;; folder = folder.parent_path()) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(folder / ".git", error))) return folder;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

// From `start` up to `last`, or to the root of all folders.
Result<std::optional<fs::path>> nearest_marked(const fs::path& start, const fs::path& last,
                                               const std::optional<fs::path>& home,
                                               bool in_repository) {
  for (fs::path folder = start;; folder = folder.parent_path()) {
    const bool is_home = home && (folder == *home || is_below(*home, folder));
    const bool allowed = in_repository ? !is_home : home && is_below(folder, *home);
    if (allowed) {
      if (const auto mark = mark_of(folder, in_repository)) {
        SKEIN_TRY(check_owner(*mark));
        return folder;
      }
    }
    if (folder == last || folder == folder.parent_path()) return std::nullopt;
  }
}

Result<FoundWorkspace> unmarked(const fs::path& start, const std::optional<fs::path>& home) {
  if (!home || start != *home) return FoundWorkspace{start};
  return fail(ErrorCode::kInvalid,
              fmt::format("there is no workspace here: {} is your home folder, which is one only "
                          "if you say so. Change to the folder of a project, or give --workspace "
                          "DIR (SKEIN_WORKSPACE)",
                          start.string()));
}

}  // namespace

Result<FoundWorkspace> find_workspace(const fs::path& given) {
  std::error_code error;
  const fs::path start = fs::canonical(given, error);
  if (error || !is_folder(start)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("folder {}: there is no such folder", given.string()));
  }
  const auto home = home_folder();
  const auto root = repository_root(start);
  if (!root) {
    SKEIN_ASSIGN(const auto marked, nearest_marked(start, "/", home, false));
    return marked ? FoundWorkspace{*marked} : unmarked(start, home);
  }
  SKEIN_TRY(check_owner(*root / ".git"));
  fs::path top = *root;
  fs::path from = start;
  fs::path worktree;
  if (const auto main = main_checkout(*root)) {
    SKEIN_TRY(check_owner(*main / ".git"));
    top = *main;
    worktree = *root;
    from = (*main / start.lexically_relative(*root)).lexically_normal();
    if (!from.has_filename()) from = from.parent_path();  // of "main/."
  }
  SKEIN_ASSIGN(const auto marked, nearest_marked(from, top, home, true));
  if (marked) return FoundWorkspace{*marked, worktree};
  const bool holds_home = home && (top == *home || is_below(*home, top));
  return holds_home ? unmarked(start, home) : FoundWorkspace{top, worktree};
}

Result<void> enter_workspace(const fs::path& workspace, std::function<void()> made) {
  SKEIN_TRY(check_owner(workspace / kOwnFolderName));
  // Paths are compared by their names, and the workspace may be reached by two.
  std::error_code error;
  confine_folder(workspace.string());
  if (const fs::path canonical = fs::canonical(workspace, error);
      !error && canonical != workspace) {
    confine_folder(canonical.string());
  }
  if (made) on_own_folder_made(workspace.string(), std::move(made));
  return {};
}

}  // namespace skein
