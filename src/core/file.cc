#include "core/file.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/confined_path.h"
#include "core/try.h"

namespace skein {
namespace {

FileStamp stamp_of(const struct stat& st) {
  return {.inode = st.st_ino,
          .size = static_cast<std::uint64_t>(st.st_size),
          .mtime_ns = st.st_mtim.tv_sec * 1'000'000'000LL + st.st_mtim.tv_nsec,
          .has_name = st.st_nlink > 0};
}

// Calls `write_some(done)` until everything is written.
template <class WriteSome>
Result<void> write_all(const std::string& path, std::string_view bytes, WriteSome write_some) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write_some(bytes.substr(done), done);
    if (n < 0) {
      if (errno == EINTR) continue;
      return tl::unexpected(io_error("write", path, errno));
    }
    if (n == 0) return tl::unexpected(io_error("write", path, ENOSPC));
    done += static_cast<std::size_t>(n);
  }
  return {};
}

// Calls `call(folder, beside, path)` with the names as they are in their folder, so that a folder
// that becomes a link meanwhile leads nowhere else. The errno of the call; 0: it succeeded.
template <class Call>
Result<int> in_folder_of(const std::string& path, const std::string& beside, Call call) {
  SKEIN_ASSIGN(const auto confined, find_confined(path));
  if (!confined) return call(AT_FDCWD, beside.c_str(), path.c_str()) == 0 ? 0 : errno;
  const std::string name_beside = confined->name + beside.substr(path.size());
  const int done = call(confined->folder.get(), name_beside.c_str(), confined->name.c_str());
  return done == 0 ? 0 : errno;
}

// Writes and flushes a file beside `path`, and lets `put` bring it there. Nothing is left of it
// when that fails.
template <class Put>
Result<void> write_beside(const std::string& path, std::string_view bytes, unsigned mode,
                          Flusher& flusher, Put put) {
  static std::atomic<unsigned> counter{0};
  const std::string beside =
      path + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  const auto write = [&]() -> Result<void> {
    // Of a process that died, or planted: never written through. What keeps it from being removed
    // keeps the file from being made.
    const auto removed = remove_file(beside);
    static_cast<void>(removed);
    SKEIN_ASSIGN(const Fd fd, open_file(beside, O_WRONLY | O_CREAT | O_EXCL));
    // Only a mode that the umask may not take from: that of the file before.
    if (mode != kPrivateFile && ::fchmod(fd.get(), mode) != 0) {
      return tl::unexpected(io_error("set the mode of", beside, errno));
    }
    SKEIN_TRY(write_at(fd, beside, 0, bytes));
    SKEIN_TRY(flusher.data(fd, beside));
    return put(beside);
  };
  if (auto written = write(); !written) {
    const auto removed = remove_file(beside);
    static_cast<void>(removed);  // the first error is the one that tells
    return written;
  }
  return flusher.folder(parent_folder(path));
}

}  // namespace

void Fd::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Error io_error(std::string_view doing, const std::string& path, int error_number) {
  char buffer[128];
  const char* words = strerror_r(error_number, buffer, sizeof buffer);
  std::string message = "cannot ";
  message.append(doing).append(" ").append(path).append(": ").append(words);
  return {error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, std::move(message)};
}

Result<Fd> open_file(const std::string& path, int flags, unsigned mode) {
  std::optional<ConfinedName> confined;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (writes) {
    SKEIN_ASSIGN(confined, find_confined(path));
  }
  const int folder = confined ? confined->folder.get() : AT_FDCWD;
  const char* name = confined ? confined->name.c_str() : path.c_str();
  while (true) {
    // A FIFO in the place of a file must make nobody wait for its other end.
    const int extra = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const int fd = ::openat(folder, name, flags | extra, mode);
    if (fd >= 0) return Fd(fd);
    const int error_number = errno;
    if (error_number == EINTR) continue;
    if (error_number == ELOOP && confined) {
      return tl::unexpected(confined_error("open", path, path, error_number));
    }
    return tl::unexpected(io_error("open", path, error_number));
  }
}

Result<std::optional<FileStamp>> stat_file(const std::string& path) {
  struct stat st{};
  if (::lstat(path.c_str(), &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return tl::unexpected(io_error("stat", path, errno));
  }
  if (!S_ISREG(st.st_mode)) return std::nullopt;
  return stamp_of(st);
}

Result<FileStamp> stat_open(const Fd& fd, const std::string& path) {
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return tl::unexpected(io_error("stat", path, errno));
  return stamp_of(st);
}

Result<std::size_t> read_at(const Fd& fd, const std::string& path, std::uint64_t offset, char* data,
                            std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(fd.get(), data + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0) {
      if (errno == EINTR) continue;
      return tl::unexpected(io_error("read", path, errno));
    }
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

Result<std::optional<std::string>> read_file(const std::string& path, std::size_t limit) {
  SKEIN_ASSIGN(auto stamp, stat_file(path));
  if (!stamp) return std::nullopt;
  auto fd = open_file(path, O_RDONLY);
  if (!fd) {
    if (fd.error().code == ErrorCode::kNotFound) return std::nullopt;
    return tl::unexpected(fd.error());
  }
  SKEIN_ASSIGN(const auto now, stat_open(*fd, path));
  if (now.size > limit) {
    return fail(ErrorCode::kIo, path + " has " + std::to_string(now.size) +
                                    " bytes, more than the limit of " + std::to_string(limit));
  }
  std::string bytes(now.size, '\0');
  SKEIN_ASSIGN(const auto got, read_at(*fd, path, 0, bytes.data(), bytes.size()));
  bytes.resize(got);
  return bytes;
}

Result<void> write_at(const Fd& fd, const std::string& path, std::uint64_t offset,
                      std::string_view bytes) {
  return write_all(path, bytes, [&](std::string_view rest, std::size_t done) {
    return ::pwrite(fd.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
  });
}

Result<void> write_append(const Fd& fd, const std::string& path, std::string_view bytes) {
  return write_all(path, bytes, [&](std::string_view rest, std::size_t) {
    return ::write(fd.get(), rest.data(), rest.size());
  });
}

Result<void> truncate_file(const Fd& fd, const std::string& path, std::uint64_t size) {
  while (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return tl::unexpected(io_error("shorten", path, errno));
  }
  return {};
}

Result<void> Flusher::data(const Fd& fd, const std::string& path) {
  if (!enabled_) return {};
  if (::fdatasync(fd.get()) == 0) return {};
  failed_ = true;
  return tl::unexpected(io_error("flush", path, errno));
}

Result<void> Flusher::folder(const std::string& path) {
  if (!enabled_) return {};
  // The folder may be reached through a link that its user made.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return tl::unexpected(io_error("open", path, errno));
  if (::fsync(fd.get()) == 0) return {};
  failed_ = true;
  return tl::unexpected(io_error("flush the folder", path, errno));
}

Result<void> Flusher::check() const {
  if (!failed_) return {};
  return fail(ErrorCode::kIo, "an earlier flush failed: open the store again before writing");
}

std::string parent_folder(const std::string& path) {
  const auto end = path.find_last_not_of('/');
  const auto slash = end == std::string::npos ? end : path.find_last_of('/', end);
  if (slash == std::string::npos) return path.starts_with('/') ? "/" : ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<bool> make_folder(const std::string& path) {
  SKEIN_ASSIGN(const auto confined, find_confined(path));
  const int folder = confined ? confined->folder.get() : AT_FDCWD;
  const char* name = confined ? confined->name.c_str() : path.c_str();
  if (::mkdirat(folder, name, kPrivateFolder) == 0) return true;
  const int error_number = errno;
  struct stat st{};
  const int follow = confined ? AT_SYMLINK_NOFOLLOW : 0;
  if (error_number == EEXIST && ::fstatat(folder, name, &st, follow) == 0) {
    if (S_ISDIR(st.st_mode)) return false;
    if (S_ISLNK(st.st_mode)) {
      return tl::unexpected(confined_error("make the folder", path, path, error_number));
    }
  }
  return tl::unexpected(io_error("make the folder", path, error_number));
}

Result<void> make_folders(const std::string& path, Flusher& flusher) {
  auto made = make_folder(path);
  if (!made && made.error().code == ErrorCode::kNotFound && parent_folder(path) != path) {
    SKEIN_TRY(make_folders(parent_folder(path), flusher));
    made = make_folder(path);
  }
  if (!made) return tl::unexpected(made.error());
  if (*made) return flusher.folder(parent_folder(path));
  return {};
}

Result<bool> remove_file(const std::string& path) {
  auto confined = find_confined(path);
  if (!confined) {
    if (confined.error().code == ErrorCode::kNotFound) return false;
    return tl::unexpected(confined.error());
  }
  const int folder = *confined ? (*confined)->folder.get() : AT_FDCWD;
  const char* name = *confined ? (*confined)->name.c_str() : path.c_str();
  if (::unlinkat(folder, name, 0) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return tl::unexpected(io_error("remove", path, errno));
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
  std::vector<std::string> names;
  if (!dir) {
    if (errno == ENOENT || errno == ENOTDIR) return names;
    return tl::unexpected(io_error("list", path, errno));
  }
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    names.emplace_back(entry->d_name);
  }
  if (errno != 0) return tl::unexpected(io_error("list", path, errno));
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> make_empty_file(const std::string& path) {
  SKEIN_ASSIGN(const auto confined, find_confined(path));
  const int folder = confined ? confined->folder.get() : AT_FDCWD;
  const char* name = confined ? confined->name.c_str() : path.c_str();
  if (::mknodat(folder, name, S_IFREG | kPrivateFile, 0) == 0 || errno == EEXIST) return {};
  // Some file systems know no mknod. Nobody in this process has a file open that was not there.
  if (errno == EPERM || errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS) {
    const Fd fd(::openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivateFile));
    if (fd.is_open() || errno == EEXIST) return {};
  }
  return tl::unexpected(io_error("make", path, errno));
}

Result<bool> create_file(const std::string& path, std::string_view bytes, Flusher& flusher) {
  bool made = false;
  const auto put = [&](const std::string& beside) -> Result<void> {
    SKEIN_ASSIGN(const int error_number,
                 in_folder_of(path, beside, [](int folder, const char* from, const char* to) {
                   return ::linkat(folder, from, folder, to, 0);
                 }));
    made = error_number == 0;
    if (!made && error_number != EEXIST) {
      return tl::unexpected(io_error("make", path, error_number));
    }
    const auto removed = remove_file(beside);
    static_cast<void>(removed);  // it has its name
    return {};
  };
  SKEIN_TRY(write_beside(path, bytes, kPrivateFile, flusher, put));
  return made;
}

Result<void> replace_file(const std::string& path, std::string_view bytes, Flusher& flusher) {
  struct stat st{};
  const bool there = ::lstat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
  const unsigned mode = there ? st.st_mode & 0777U : kPrivateFile;
  const auto put = [&](const std::string& beside) -> Result<void> {
    SKEIN_ASSIGN(const int error_number,
                 in_folder_of(path, beside, [](int folder, const char* from, const char* to) {
                   return ::renameat(folder, from, folder, to);
                 }));
    if (error_number == 0) return {};
    return tl::unexpected(io_error("rename to", path, error_number));
  };
  return write_beside(path, bytes, mode, flusher, put);
}

}  // namespace skein
