// What the content of a file is known by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/file.h"

namespace skein {

// Reads files below a folder whose names and contents somebody else may have chosen: follows no
// symbolic link, opens regular files only, and reads a bounded number of bytes in all.
class FileContents {
 public:
  // The most bytes of one file, and of all files that one object reads.
  static constexpr std::uint64_t kMaxFileBytes = std::uint64_t{8} << 20;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;

  explicit FileContents(const std::string& folder);

  // "sha256:HEX"; "link:HEX" for the target of a symbolic link; "size:BYTES" for a file beyond the
  // limits; "absent". Empty: a folder or device, unreadable, or the path leads out of the folder.
  std::string of(const std::string& path);

  // Whether the file is still what `then` says, which `of` answered. What cannot be compared within
  // the limits counts as the same.
  bool is_still(const std::string& path, std::string_view then);

 private:
  std::string of_file(int folder, const std::string& name, std::uint64_t size);

  Fd folder_;
  std::uint64_t left_ = kMaxBytes;
};

}  // namespace skein
