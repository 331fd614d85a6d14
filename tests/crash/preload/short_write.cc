// Preloaded into a program: the N-th write to a file under a folder takes only half of its bytes,
// as a disk that is just full does.
//
//   SKEIN_SHORT_WRITE=N         which one, counted over all threads
//   SKEIN_SHORT_WRITE_UNDER=DIR only regular files under this folder count
//   SKEIN_SHORT_WRITE_THEN=E    the write after it fails with this errno (absent: nothing more
//   happens) SKEIN_SHORT_WRITE_MARK=FILE made when it happened

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> counter{0};

enum class Fate { kWhole, kHalf, kFail };

bool counts(int fd) {
  static const char* under = std::getenv("SKEIN_SHORT_WRITE_UNDER");
  struct stat status{};
  if (under == nullptr || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  char link[64];
  char path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return std::strncmp(path, under, std::strlen(under)) == 0;
}

Fate fate_of(int fd, std::size_t bytes) {
  static const char* which = std::getenv("SKEIN_SHORT_WRITE");
  static const char* then = std::getenv("SKEIN_SHORT_WRITE_THEN");
  static const char* mark = std::getenv("SKEIN_SHORT_WRITE_MARK");
  if (which == nullptr || bytes < 2 || !counts(fd)) return Fate::kWhole;
  const long number = ++counter;
  const long target = std::atol(which);
  if (number == target + 1 && then != nullptr) {
    errno = std::atoi(then);
    return Fate::kFail;
  }
  if (number != target) return Fate::kWhole;
  if (mark != nullptr) ::close(::open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  return Fate::kHalf;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

std::size_t total(const iovec* parts, int count) {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bytes;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, std::size_t bytes) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  const Fate fate = fate_of(fd, bytes);
  return fate == Fate::kFail ? -1 : next(fd, data, fate == Fate::kHalf ? bytes / 2 : bytes);
}

ssize_t pwrite(int fd, const void* data, std::size_t bytes, off_t offset) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  const Fate fate = fate_of(fd, bytes);
  return fate == Fate::kFail ? -1 : next(fd, data, fate == Fate::kHalf ? bytes / 2 : bytes, offset);
}

ssize_t pwrite64(int fd, const void* data, std::size_t bytes, off64_t offset) {
  return pwrite(fd, data, bytes, offset);
}

ssize_t writev(int fd, const iovec* parts, int count) {
  static const auto next = real<ssize_t (*)(int, const iovec*, int)>("writev");
  const Fate fate = fate_of(fd, total(parts, count));
  if (fate == Fate::kFail) return -1;
  if (fate == Fate::kWhole) return next(fd, parts, count);
  const iovec half{parts[0].iov_base, parts[0].iov_len > 1 ? parts[0].iov_len / 2 : 1};
  return next(fd, &half, 1);
}

ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  static const auto next = real<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
  const Fate fate = fate_of(fd, total(parts, count));
  if (fate == Fate::kFail) return -1;
  if (fate == Fate::kWhole) return next(fd, parts, count, offset);
  const iovec half{parts[0].iov_base, parts[0].iov_len > 1 ? parts[0].iov_len / 2 : 1};
  return next(fd, &half, 1, offset);
}

}  // extern "C"
