// A folder of another program that is imported: it is only read, and never left through a link.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

class SourceFolder {
 public:
  explicit SourceFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  // As it is named in messages.
  std::filesystem::path at(std::string_view relative) const {
    return path_ / std::filesystem::path(relative);
  }

  bool has(std::string_view relative) const;
  // A file or a folder with all links resolved. Nothing, if there is none. kInvalid: a link on the
  // way leads out of the folder.
  Result<std::optional<std::string>> resolve(std::string_view relative) const;
  // The same for what is read piece by piece: kInvalid, if it is no regular file.
  Result<std::optional<std::string>> resolve_file(std::string_view relative) const;
  // Nothing, if there is no such file. kInvalid as above; kIo beyond `limit` bytes.
  Result<std::optional<std::string>> read(std::string_view relative, std::size_t limit) const;
  // The same, as valid JSON.
  Result<std::optional<std::string>> read_json(std::string_view relative, std::size_t limit) const;
  // The names in a folder below this one that are not hidden, sorted; none if it is not there, or
  // behind a link that leads out.
  std::vector<std::string> names(std::string_view relative) const;
  bool is_folder(std::string_view relative) const;

 private:
  std::filesystem::path path_;
};

}  // namespace skein
