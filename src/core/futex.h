// Sleeping until a word of memory changes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>

namespace skein {

inline timespec futex_time(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

// Returns when woken, when the time is over, at once if the word is another already, and sometimes
// for no reason.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::nanoseconds time) {
  const timespec limit = futex_time(time);
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &limit, nullptr, 0);
}

// The same, however long it takes.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// The word may be gone already, when its owner saw the new value before it slept: the kernel only
// compares the address, it reads nothing.
inline void futex_wake(const void* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// The same for memory that several processes share. False: one cannot wait for such memory.
inline bool futex_wait_shared(const void* word, std::uint32_t expected,
                              std::chrono::nanoseconds time) {
  const timespec limit = futex_time(time);
  if (::syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, nullptr, 0) == 0) return true;
  return errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT;
}

// Everybody, in all processes.
inline void futex_wake_all_shared(const void* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

}  // namespace skein
