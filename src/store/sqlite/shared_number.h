// A number at the start of a file, which processes tell one another.
#pragma once

#include <chrono>
#include <cstdint>

namespace skein::sqlite {

// It is read and waited for in memory that all of them share, and written to the file, where a full
// disk is an error and not a signal. Where that memory cannot be had, it is read from the file,
// too. Thread-safe, but those who begin or write keep each other out, in all processes.
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

  // Returns at once when the number is another already; else when wake() is called, when the time
  // is over, and sometimes for no reason. False: nobody can wait for it here.
  bool wait(std::uint64_t number, std::chrono::nanoseconds time) const;
  // Wakes all who wait, in all processes.
  void wake() const;

 private:
  const int fd_;
  const std::uint64_t* mapped_ = nullptr;
};

}  // namespace skein::sqlite
