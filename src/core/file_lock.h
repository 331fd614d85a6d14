// A lock on one byte of a file, between processes.
#pragma once

#include <cstdint>
#include <optional>

#include "skein/error.h"

namespace skein {

enum class LockMode { kShared, kExclusive };

// Held until it is released or destroyed, or its open file is closed (a process that dies gives it
// back). The lock belongs to the open file description: it keeps out everyone who opened the file
// themselves, in this process or another, but not a second lock through the same fd, which changes
// the first instead. Threads that share an fd need a mutex before it. The byte need not exist.
//
// Waiting is fair: the kernel wakes those who wait for the byte in the order of their arrival.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  // Waits until it has the lock. `fd` is borrowed, and must be open for reading (kShared) or for
  // writing (kExclusive).
  static Result<FileLock> acquire(int fd, std::uint64_t offset, LockMode mode);
  // Nothing, when somebody else holds it.
  static Result<std::optional<FileLock>> try_acquire(int fd, std::uint64_t offset, LockMode mode);

  bool held() const { return fd_ >= 0; }
  void release();

 private:
  FileLock(int fd, std::uint64_t offset) : fd_(fd), offset_(offset) {}

  int fd_ = -1;
  std::uint64_t offset_ = 0;
};

}  // namespace skein
