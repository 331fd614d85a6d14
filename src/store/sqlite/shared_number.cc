#include "store/sqlite/shared_number.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>

#include "core/futex.h"

namespace skein::sqlite {

SharedNumber::SharedNumber(int fd) : fd_(fd) {
  struct stat file = {};
  if (::fstat(fd_, &file) != 0) return;
  // Only what is in the file is mapped: there is room for it on the disk, however full that
  // becomes.
  if (file.st_size < off_t{sizeof *mapped_} && !write(0)) return;
  void* const at = ::mmap(nullptr, sizeof *mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (at != MAP_FAILED) mapped_ = static_cast<std::uint64_t*>(at);
}

SharedNumber::~SharedNumber() {
  if (mapped_ != nullptr) ::munmap(mapped_, sizeof *mapped_);
}

std::uint64_t SharedNumber::read() const {
  if (mapped_ != nullptr) return std::atomic_ref(*mapped_).load();
  std::uint64_t number = 0;
  if (::pread(fd_, &number, sizeof number, 0) != sizeof number) return 0;
  return number;
}

bool SharedNumber::write(std::uint64_t number) {
  if (mapped_ != nullptr) {
    std::atomic_ref(*mapped_).store(number);
    return true;
  }
  ssize_t written = 0;
  do {  // the same again, if only a part of it was written
    written = ::pwrite(fd_, &number, sizeof number, 0);
  } while ((written > 0 && written < ssize_t{sizeof number}) || (written < 0 && errno == EINTR));
  return written == ssize_t{sizeof number};
}

// The part of it that changes with every write.
const std::uint32_t* SharedNumber::word() const {
  static_assert(std::endian::native == std::endian::little);
  return reinterpret_cast<const std::uint32_t*>(mapped_);
}

void SharedNumber::wait(std::uint64_t number, std::chrono::nanoseconds time) const {
  futex_wait_shared(word(), static_cast<std::uint32_t>(number), time);
}

void SharedNumber::wake() const {
  if (can_wait()) futex_wake_all_shared(word());
}

}  // namespace skein::sqlite
