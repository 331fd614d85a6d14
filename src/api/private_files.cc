#include "api/private_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "core/confined_path.h"
#include "core/file.h"
#include "core/own_folder.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr mode_t kOthers = 077;
constexpr mode_t kOthersWrite = 022;
constexpr std::size_t kMostIgnoreBytes = 1 << 20;

std::optional<struct stat> look_at(const fs::path& path) {
  struct stat st{};
  if (::lstat(path.c_str(), &st) != 0 || S_ISLNK(st.st_mode)) return std::nullopt;
  return st;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  const auto names = list_folder(folder.string());
  if (!names) return entries;
  for (const std::string& name : *names) {
    if (name != "." && name != "..") entries.push_back(folder / name);
  }
  return entries;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

// A database, and what SQLite, its locks and the search keep beside it under longer names.
void add_database(const fs::path& file, std::vector<fs::path>& roots) {
  const std::string name = file.filename().string();
  for (const fs::path& entry : entries_of(file.has_parent_path() ? file.parent_path() : ".")) {
    const std::string other = entry.filename().string();
    const bool beside = other.starts_with(name) &&
                        (other.size() == name.size() || other[name.size()] == '-' ||
                         other.starts_with(name + ".lock") || other.starts_with(name + ".recall"));
    if (beside) roots.push_back(entry);
  }
}

// Only what a store has there: other files in the folder are not ours.
void add_jsonl(const fs::path& folder, std::vector<fs::path>& roots) {
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    if (name == kOwnFolderName || name == "usage.jsonl") roots.push_back(entry);
    if (!check_agent_id(name)) continue;
    for (const char* part : {"threads", "embeddings.jsonl"}) roots.push_back(entry / part);
  }
}

void add_store(const Settings& settings, std::vector<fs::path>& roots) {
  constexpr std::string_view kSqlite = "sqlite:";
  constexpr std::string_view kJsonl = "jsonl:";
  const std::string& url = settings.store_url;
  if (url.starts_with(kJsonl)) return add_jsonl(url.substr(kJsonl.size()), roots);
  if (!url.starts_with(kSqlite)) return;
  const fs::path file = url.substr(kSqlite.size());
  if (!is_inside(file, settings.workspace / kOwnFolderName)) add_database(file, roots);
}

std::vector<fs::path> roots_of(const Settings& settings) {
  std::vector<fs::path> roots;
  for (const char* name : {".skein", ".gitmem", "workspace/threads"}) {
    roots.push_back(settings.workspace / name);
  }
  add_store(settings, roots);
  return roots;
}

bool is_for_git(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.parent_path().filename() == kOwnFolderName &&
         (name == ".gitignore" || name == "config.json");
}

void collect(const fs::path& path, ExposedFiles& exposed) {
  const auto st = look_at(path);
  if (!st || (st->st_mode & kOthers) == 0 || is_for_git(path)) return;
  exposed.paths.push_back(path);
  exposed.writable = exposed.writable || (st->st_mode & kOthersWrite) != 0;
  if (!S_ISDIR(st->st_mode)) return;
  for (const fs::path& entry : entries_of(path)) collect(entry, exposed);
}

Result<std::size_t> make_private(const fs::path& path) {
  // A link on the way leads to files that are not ours to change.
  if (!check_no_links(path.string())) return std::size_t{0};
  const auto st = look_at(path);
  if (!st || st->st_uid != ::geteuid()) return std::size_t{0};
  std::size_t changed = 0;
  if ((st->st_mode & kOthers) != 0) {
    if (::chmod(path.c_str(), st->st_mode & 07777U & ~kOthers) != 0) {
      return tl::unexpected(io_error("make private", path.string(), errno));
    }
    ++changed;
  }
  if (!S_ISDIR(st->st_mode)) return changed;
  for (const fs::path& entry : entries_of(path)) {
    SKEIN_ASSIGN(const std::size_t below, make_private(entry));
    changed += below;
  }
  return changed;
}

std::optional<std::string> warning_about(const fs::path& path) {
  const auto st = look_at(path);
  if (!st || (st->st_mode & kOthers) == 0) return std::nullopt;
  return fmt::format(
      "other users of this machine can {} {} (mode {:04o}); run \"skein doctor --repair\" to make "
      "it private",
      (st->st_mode & kOthersWrite) != 0 ? "change" : "read", path.string(), st->st_mode & 07777U);
}

// The folder with ".git" that the folder is in; empty: none.
fs::path repository_of(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(fs::symlink_status(at / ".git", error))) return at;
    if (at == at.parent_path()) return {};
  }
}

bool has_line(std::string_view text, std::string_view wanted) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line == wanted) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// Whether a .gitignore of Skein's, or one like it, leaves out all that is in the folder.
bool is_kept_from_git(const fs::path& folder, const fs::path& repository) {
  for (fs::path at = folder;; at = at.parent_path()) {
    const auto text = read_file((at / ".gitignore").string(), kMostIgnoreBytes);
    if (text && *text && has_line(**text, "*")) return true;
    if (at == repository) return false;
  }
}

}  // namespace

ExposedFiles find_exposed_files(const Settings& settings) {
  ExposedFiles exposed;
  for (const fs::path& root : roots_of(settings)) collect(root, exposed);
  return exposed;
}

Result<std::size_t> make_files_private(const Settings& settings) {
  std::size_t changed = 0;
  for (const fs::path& root : roots_of(settings)) {
    SKEIN_ASSIGN(const std::size_t below, make_private(root));
    changed += below;
  }
  return changed;
}

std::optional<std::string> exposure_warning(const Settings& settings) {
  const fs::path own = settings.workspace / kOwnFolderName;
  if (!is_unused_own_folder(own.string())) {
    if (auto warning = warning_about(own)) return warning;
  }
  constexpr std::string_view kSqlite = "sqlite:";
  constexpr std::string_view kJsonl = "jsonl:";
  const std::string& url = settings.store_url;
  if (url.starts_with(kJsonl)) {
    return warning_about(fs::path(url.substr(kJsonl.size())) / kOwnFolderName);
  }
  if (!url.starts_with(kSqlite)) return std::nullopt;
  const fs::path file = url.substr(kSqlite.size());
  const auto folder = look_at(file.has_parent_path() ? file.parent_path() : ".");
  const bool hidden = folder && (folder->st_mode & kOthers) == 0;
  return hidden ? std::nullopt : warning_about(file);
}

std::optional<std::string> commit_warning(const std::string& store_url) {
  const auto path = store_path(store_url);
  if (!path) return std::nullopt;
  const bool is_folder = store_url.starts_with("jsonl:");
  std::error_code error;
  const fs::path place = fs::absolute(fs::path(*path), error);
  const bool is_new = !fs::exists(is_folder ? place / kOwnFolderName : place, error);
  // A folder that is not there is made by Skein, with a .gitignore.
  const fs::path folder = fs::canonical(is_folder ? place : place.parent_path(), error);
  if (error || !is_new) return std::nullopt;
  const fs::path repository = repository_of(folder);
  if (repository.empty() || is_kept_from_git(folder, repository)) return std::nullopt;
  const std::string line =
      is_folder ? (folder / "").lexically_relative(repository).string()
                : (folder / place.filename()).lexically_relative(repository).string() + "*";
  return fmt::format(
      "new store {}: \"git add\" would take its conversations; to keep them out, add "
      "the line \"/{}\" to {}",
      place.string(), line, (repository / ".gitignore").string());
}

}  // namespace skein
