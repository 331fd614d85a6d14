// Files: reading, writing and flushing them, with errors that name the file.
#pragma once

#include <fcntl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/error.h"

namespace skein {

// An open file, closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// What tells one content of a path from another.
struct FileStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  bool has_name =
      true;  // false for an open file that was removed, or that another took the place of
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// kIo with the path and the words of errno.
Error io_error(std::string_view doing, const std::string& path, int error_number);

// What Skein makes is for its user alone, whatever the umask allows. The mode is given to each call
// that makes something: a umask of the process would pass to the programs that it starts, which
// work on the user's files.
inline constexpr unsigned kPrivateFile = 0600;
inline constexpr unsigned kPrivateFolder = 0700;

// `flags` as open(2) has them; never follows a symbolic link at the end of the path, and is closed
// on exec. For writing below a confined folder (core/confined_path.h) it follows none on the way
// either. kNotFound if there is no such file.
Result<Fd> open_file(const std::string& path, int flags, unsigned mode = kPrivateFile);

// Nothing, unless there is a regular file of that name; links are not followed.
Result<std::optional<FileStamp>> stat_file(const std::string& path);
Result<FileStamp> stat_open(const Fd& fd, const std::string& path);

// Reads until `size` bytes or the end of the file; answers how many it got.
Result<std::size_t> read_at(const Fd& fd, const std::string& path, std::uint64_t offset, char* data,
                            std::size_t size);
// Nothing, if there is no such file. kIo beyond `limit` bytes.
Result<std::optional<std::string>> read_file(const std::string& path, std::size_t limit);

// All of it, or an error; then a part may have been written.
Result<void> write_at(const Fd& fd, const std::string& path, std::uint64_t offset,
                      std::string_view bytes);
// The same at the end of a file that was opened with O_APPEND.
Result<void> write_append(const Fd& fd, const std::string& path, std::string_view bytes);
Result<void> truncate_file(const Fd& fd, const std::string& path, std::uint64_t size);

// Makes data durable, and remembers a failure: what the kernel could not write it may have dropped,
// so that a second flush would succeed without it. Thread-safe.
class Flusher {
 public:
  // Disabled, it does nothing: for tests that lose data on purpose.
  explicit Flusher(bool enabled = true) : enabled_(enabled) {}

  // The file's contents and what is needed to read them (fdatasync).
  Result<void> data(const Fd& fd, const std::string& path);
  // The names in a folder.
  Result<void> folder(const std::string& path);
  // kIo, once any flush has failed.
  Result<void> check() const;

 private:
  const bool enabled_;
  std::atomic<bool> failed_{false};
};

// The folder above, which need not exist.
std::string parent_folder(const std::string& path);

// True: made it, private. False: it was there.
Result<bool> make_folder(const std::string& path);
// With the folders above it; each new one is private and durable.
Result<void> make_folders(const std::string& path, Flusher& flusher);
// False: there was none.
Result<bool> remove_file(const std::string& path);
// The names in a folder, sorted; empty if there is no such folder.
Result<std::vector<std::string>> list_folder(const std::string& path);

// Makes an empty private file, unless there is something of that name, without ever having it open:
// closing a descriptor of a database drops the locks that the process has on it.
Result<void> make_empty_file(const std::string& path);

// Makes a private file that appears whole and durable, or not at all. False: there is something of
// that name, which is left alone.
Result<bool> create_file(const std::string& path, std::string_view bytes, Flusher& flusher);

// After it returns, the file has the new contents; after a crash, the old or the new ones. Writes
// beside it, flushes, renames, and flushes the folder. A new file is private, one that was there
// keeps its mode.
Result<void> replace_file(const std::string& path, std::string_view bytes, Flusher& flusher);

}  // namespace skein
