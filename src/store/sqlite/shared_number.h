// A number at the start of a file, which processes tell one another.
#pragma once

#include <chrono>
#include <cstdint>

namespace skein::sqlite {

// It is read, written and waited for in memory that all of them share. Where that memory cannot be
// had, it is in the file, and nobody can wait for it. Thread-safe, but those who begin or write
// keep each other out, in all processes.
class SharedNumber {
 public:
  // `fd` is borrowed, and open for reading and writing.
  explicit SharedNumber(int fd);
  ~SharedNumber();
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;

  // 0 before the first write.
  std::uint64_t read() const;
  // False, with errno: it could not be written.
  bool write(std::uint64_t number);

  bool can_wait() const { return mapped_ != nullptr; }
  // Returns when the number is another, when wake() is called, when the time is over, and sometimes
  // for no reason.
  void wait(std::uint64_t number, std::chrono::nanoseconds time) const;
  // Wakes all who wait, in all processes.
  void wake() const;

 private:
  const std::uint32_t* word() const;

  const int fd_;
  std::uint64_t* mapped_ = nullptr;
};

}  // namespace skein::sqlite
