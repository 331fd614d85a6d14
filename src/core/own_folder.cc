#include "core/own_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/try.h"

namespace skein {
namespace {

constexpr std::string_view kIgnoreFile = ".gitignore";
constexpr std::string_view kOwnIgnored = "*\n!.gitignore\n!config.json\n";
constexpr std::string_view kAllIgnored = "*\n";

class Notices {
 public:
  void set(const std::string& path, std::function<void()> notice) {
    const std::lock_guard lock(mutex_);
    notices_[path] = std::move(notice);
  }
  std::function<void()> take(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = notices_.find(path);
    if (found == notices_.end()) return {};
    std::function<void()> notice = std::move(found->second);
    notices_.erase(found);
    return notice;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::function<void()>> notices_;
};

Notices& notices() {
  static Notices all;
  return all;
}

std::string own_path(const std::string& folder) {
  return (folder.ends_with('/') ? folder : folder + "/") + std::string(kOwnFolderName);
}

bool is_own_folder(const std::string& path) {
  return path == kOwnFolderName || path.ends_with("/" + std::string(kOwnFolderName));
}

// What others could see of a folder before anything was in it is nothing.
void make_unused_folder_private(const std::string& path) {
  struct stat st{};
  if (::lstat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != ::geteuid()) return;
  if ((st.st_mode & 077) != 0 && is_unused_own_folder(path)) ::chmod(path.c_str(), 0700);
}

// True: the folder is new.
Result<bool> make_with_parents(const std::string& path, Flusher& flusher) {
  auto made = make_folder(path);
  if (!made && made.error().code == ErrorCode::kNotFound && parent_folder(path) != path) {
    SKEIN_TRY(make_folders(parent_folder(path), flusher));
    made = make_folder(path);
  }
  if (made && *made) SKEIN_TRY(flusher.folder(parent_folder(path)));
  return made;
}

}  // namespace

Result<void> ignore_in_git(const std::string& folder, std::string_view lines, Flusher& flusher) {
  const std::string path = folder + "/" + std::string(kIgnoreFile);
  struct stat st{};
  if (::lstat(path.c_str(), &st) == 0) return {};
  SKEIN_TRY(create_file(path, lines, flusher));
  return {};
}

bool is_unused_own_folder(const std::string& path) {
  const auto names = list_folder(path);
  return names && std::all_of(names->begin(), names->end(), [](const std::string& name) {
           return name == "." || name == ".." || name == kIgnoreFile || name == "config.json";
         });
}

Result<void> make_store_folder(const std::string& path, Flusher& flusher) {
  SKEIN_ASSIGN(const bool made, make_with_parents(path, flusher));
  if (!is_own_folder(path)) {
    return made ? ignore_in_git(path, kAllIgnored, flusher) : Result<void>();
  }
  if (!made) make_unused_folder_private(path);
  SKEIN_TRY(ignore_in_git(path, kOwnIgnored, flusher));
  if (made) {
    if (const auto notice = notices().take(path)) notice();
  }
  return {};
}

Result<void> make_own_folder(const std::string& folder, Flusher& flusher) {
  return make_store_folder(own_path(folder), flusher);
}

void on_own_folder_made(const std::string& folder, std::function<void()> notice) {
  notices().set(own_path(folder), std::move(notice));
}

}  // namespace skein
