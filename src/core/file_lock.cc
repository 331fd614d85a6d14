#include "core/file_lock.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace skein {
namespace {

struct flock one_byte(std::uint64_t offset, int type) {
  struct flock range{};
  range.l_type = static_cast<short>(type);
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = 1;
  return range;
}

// The errno of the attempt, 0 when it worked.
int set_lock(int fd, int command, std::uint64_t offset, LockMode mode) {
  struct flock range = one_byte(offset, mode == LockMode::kShared ? F_RDLCK : F_WRLCK);
  while (::fcntl(fd, command, &range) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

tl::unexpected<Error> lock_error(int error) {
  return fail(ErrorCode::kIo, std::string("cannot lock a file: ") + std::strerror(error));
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), offset_(other.offset_) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::exchange(other.fd_, -1);
    offset_ = other.offset_;
  }
  return *this;
}

Result<FileLock> FileLock::acquire(int fd, std::uint64_t offset, LockMode mode) {
  if (const int error = set_lock(fd, F_OFD_SETLKW, offset, mode); error != 0)
    return lock_error(error);
  return FileLock(fd, offset);
}

Result<std::optional<FileLock>> FileLock::try_acquire(int fd, std::uint64_t offset, LockMode mode) {
  const int error = set_lock(fd, F_OFD_SETLK, offset, mode);
  if (error == EAGAIN || error == EACCES) return std::nullopt;
  if (error != 0) return lock_error(error);
  return FileLock(fd, offset);
}

void FileLock::release() {
  if (fd_ < 0) return;
  struct flock range = one_byte(offset_, F_UNLCK);
  ::fcntl(fd_, F_OFD_SETLK, &range);
  fd_ = -1;
}

}  // namespace skein
