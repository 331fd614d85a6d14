#include "core/confined_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

class ConfinedRoots {
 public:
  void add(const std::string& root) {
    const std::unique_lock lock(mutex_);
    ++roots_[root];
  }
  void remove(const std::string& root) {
    const std::unique_lock lock(mutex_);
    const auto found = roots_.find(root);
    if (found != roots_.end() && --found->second == 0) roots_.erase(found);
  }
  // How much of the path is the outermost confined folder above it; 0: none is.
  std::size_t find(const std::string& path) const {
    const std::shared_lock lock(mutex_);
    if (roots_.empty()) return 0;
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      if (roots_.contains(path.substr(0, slash))) return slash;
    }
    return 0;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, int> roots_;  // and how often each was confined
};

ConfinedRoots& confined_roots() {
  static ConfinedRoots roots;
  return roots;
}

std::optional<std::string> link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

ConfinedFolder::ConfinedFolder(const std::string& root) : root_(without_trailing_slashes(root)) {
  confined_roots().add(root_);
}

ConfinedFolder::~ConfinedFolder() { confined_roots().remove(root_); }

void confine_folder(const std::string& root) {
  // All of the file system is nobody's workspace: /bin and the like are links there.
  const std::string name = without_trailing_slashes(root);
  if (name != "/") confined_roots().add(name);
}

Error confined_error(std::string_view doing, const std::string& path, const std::string& link,
                     int error_number) {
  const auto target = link_target(link);
  if (!target) return io_error(doing, path, error_number);
  std::string message = "cannot ";
  message.append(doing).append(" ").append(path).append(": ").append(link);
  message.append(" is a symbolic link to ").append(quote(*target));
  message +=
      "; Skein writes through no link inside a workspace or store. Replace it by a file or folder "
      "of its own, or name the place itself with --store or --workspace";
  return {ErrorCode::kIo, std::move(message)};
}

Result<std::optional<ConfinedName>> find_confined(const std::string& given) {
  std::error_code error;  // without a working directory, nothing is below a folder
  const bool relative = !given.starts_with('/');
  const std::string path = without_trailing_slashes(
      relative ? (std::filesystem::current_path(error) / given).lexically_normal().string()
               : given);
  const std::size_t root = confined_roots().find(path);
  if (root == 0) return std::nullopt;
  ConfinedName found;
  const std::string root_path = path.substr(0, root);
  found.folder = Fd(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!found.folder.is_open()) return tl::unexpected(io_error("open", root_path, errno));
  for (std::size_t begin = root; begin != std::string::npos;) {
    const std::size_t end = path.find('/', begin + 1);
    std::string name = path.substr(begin + 1, end - begin - 1);
    begin = end;
    if (name.empty() || name == ".") continue;
    if (name == "..") return fail(ErrorCode::kIo, "cannot write " + path + ": it has \"..\" in it");
    if (end == std::string::npos) {
      found.name = std::move(name);
      break;
    }
    Fd next(
        ::openat(found.folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) {
      return tl::unexpected(confined_error("write", path, path.substr(0, end), errno));
    }
    found.folder = std::move(next);
  }
  return found;
}

Result<void> check_no_links(const std::string& path) {
  auto found = find_confined(path);
  if (!found) {
    if (found.error().code == ErrorCode::kNotFound) return {};
    return tl::unexpected(found.error());
  }
  struct stat st{};
  if (!*found ||
      ::fstatat((*found)->folder.get(), (*found)->name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
    return {};
  }
  if (!S_ISLNK(st.st_mode)) return {};
  return tl::unexpected(confined_error("write", path, path, ELOOP));
}

}  // namespace skein
