// A folder for files that another program reads, gone with its owner.
#pragma once

#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

// Under the system's temporary folder, for nobody but this user.
class ScratchFolder {
 public:
  static Result<ScratchFolder> create();
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;

  // The path of a new file with these contents.
  Result<std::string> write(std::string_view name, std::string_view bytes) const;
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved away
};

}  // namespace skein
