#include "store/sqlite/shared_number.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "core/futex.h"

namespace skein::sqlite {
namespace {

// A futex is 32 bits: those that change with every write.
static_assert(std::endian::native == std::endian::little);

}  // namespace

SharedNumber::SharedNumber(int fd) : fd_(fd) {
  struct stat file = {};
  if (::fstat(fd_, &file) != 0) return;
  if (file.st_size < off_t{sizeof *mapped_} && !write(0)) return;
  const void* const at = ::mmap(nullptr, sizeof *mapped_, PROT_READ, MAP_SHARED, fd_, 0);
  if (at != MAP_FAILED) mapped_ = static_cast<const std::uint64_t*>(at);
}

SharedNumber::~SharedNumber() {
  if (mapped_ != nullptr) ::munmap(const_cast<std::uint64_t*>(mapped_), sizeof *mapped_);
}

std::uint64_t SharedNumber::read() const {
  if (mapped_ != nullptr) return __atomic_load_n(mapped_, __ATOMIC_SEQ_CST);
  std::uint64_t number = 0;
  if (::pread(fd_, &number, sizeof number, 0) != sizeof number) return 0;
  return number;
}

bool SharedNumber::write(std::uint64_t number) {
  ssize_t written = 0;
  do {  // the same again, if only a part of it was written
    written = ::pwrite(fd_, &number, sizeof number, 0);
  } while ((written > 0 && written < ssize_t{sizeof number}) || (written < 0 && errno == EINTR));
  return written == ssize_t{sizeof number};
}

bool SharedNumber::wait(std::uint64_t number, std::chrono::nanoseconds time) const {
  return mapped_ != nullptr && futex_wait_shared(mapped_, static_cast<std::uint32_t>(number), time);
}

void SharedNumber::wake() const {
  if (mapped_ != nullptr) futex_wake_all_shared(mapped_);
}

}  // namespace skein::sqlite
