// Preloaded into a program: keeps, beside a folder, what of it would survive a power cut if a disk
// wrote nothing but what it is told to flush.
//
//   SKEIN_UNSYNCED_UNDER=DIR    the folder that is looked at
//   SKEIN_UNSYNCED_KEPT=DIR     where the flushed state is kept:
//     KEPT/files/FILE             the bytes of a file when it was last flushed
//     KEPT/folders/PATH/NAME      which FILE had this name when DIR/PATH was last flushed, or when
//                                 the file was flushed for the first time
//
// A flush of a file makes a new name last, as ext4 does; a name that was renamed or removed changes
// only with a flush of its folder.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

using Flush = int (*)(int);

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

const std::string& under() {
  static const std::string path = from_environment("SKEIN_UNSYNCED_UNDER");
  return path;
}

const fs::path& kept() {
  static const fs::path path = from_environment("SKEIN_UNSYNCED_KEPT");
  return path;
}

// Written aside and renamed: whoever is killed meanwhile leaves the state before.
void put(const fs::path& where, const std::string& bytes) {
  static std::atomic<unsigned> counter{0};
  const fs::path aside =
      kept() / ("aside." + std::to_string(::getpid()) + "." + std::to_string(++counter));
  std::ofstream(aside, std::ios::binary) << bytes;
  std::error_code ignored;
  fs::create_directories(where.parent_path(), ignored);
  fs::rename(aside, where, ignored);
}

// By the descriptor that is flushed where it can be read: closing another one of the same
// file would give back the locks that the process has on it.
std::string bytes_of(int fd, const std::string& path) {
  std::string bytes;
  std::vector<char> buffer(1 << 16);
  ssize_t got = 0;
  while ((got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(bytes.size()))) > 0)
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  if (got == 0) return bytes;
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Inodes are used again, so the time of birth belongs to the identity of a file.
std::string identity(int folder, const char* path, int flags) {
  struct statx status{};
  if (::statx(folder, path, flags, STATX_INO | STATX_BTIME | STATX_TYPE, &status) != 0) return {};
  return std::to_string(status.stx_ino) + "-" + std::to_string(status.stx_btime.tv_sec) + "." +
         std::to_string(status.stx_btime.tv_nsec);
}

void keep_file(int fd, const fs::path& path) {
  const std::string inode = identity(fd, "", AT_EMPTY_PATH);
  put(kept() / "files" / inode, bytes_of(fd, path.string()));
  const fs::path name = kept() / "folders" / fs::relative(path, under());
  std::error_code ignored;
  if (!fs::exists(name, ignored)) put(name, inode);
}

void keep_folder(const fs::path& path) {
  const fs::path names = kept() / "folders" / fs::relative(path, under());
  std::error_code ignored;
  fs::create_directories(names, ignored);
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    struct stat status{};
    if (::lstat(entry.path().c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) fs::create_directories(names / entry.path().filename(), ignored);
    if (S_ISREG(status.st_mode))
      put(names / entry.path().filename(),
          identity(AT_FDCWD, entry.path().c_str(), AT_SYMLINK_NOFOLLOW));
  }
  for (const auto& entry : fs::directory_iterator(names, ignored)) {
    if (!fs::exists(path / entry.path().filename(), ignored)) fs::remove_all(entry.path(), ignored);
  }
}

int flush(const char* name, int fd) {
  const auto next = reinterpret_cast<Flush>(::dlsym(RTLD_NEXT, name));
  const int result = next(fd);
  struct stat status{};
  if (result != 0 || under().empty() || ::fstat(fd, &status) != 0) return result;
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  if (error || !path.string().starts_with(under())) return result;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (S_ISDIR(status.st_mode))
    keep_folder(path);
  else
    keep_file(fd, path);
  return result;
}

}  // namespace

extern "C" {
int fsync(int fd) { return flush("fsync", fd); }
int fdatasync(int fd) { return flush("fdatasync", fd); }
}
