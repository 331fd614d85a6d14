// A number at the start of a file, which processes tell one another.
#pragma once

#include <cstdint>

namespace skein::sqlite {

// It is read and written in memory that all of them share: what one writes, the others read from
// then on, and neither calls the kernel. Where that memory cannot be had, they use the file. For
// one thread at a time.
class SharedNumber {
 public:
  // `fd` is borrowed, and open for reading and writing. Those who begin or write keep each other
  // out.
  explicit SharedNumber(int fd);
  ~SharedNumber();
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;

  // 0 before the first write.
  std::uint64_t read() const;
  // False, with errno: it could not be written.
  bool write(std::uint64_t number);

 private:
  const int fd_;
  std::uint64_t* mapped_ = nullptr;
};

}  // namespace skein::sqlite
