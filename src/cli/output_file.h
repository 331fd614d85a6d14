// A file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/output.h"
#include "core/file.h"
#include "skein/error.h"

namespace skein {

// Writes beside the path, and takes its place only when everything is on disk. Folders above it are
// made. New files and folders are private; a file that is replaced keeps its mode. Without commit()
// nothing is left.
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path);
  ~OutputFile();

  Output& out() { return out_; }
  Result<void> commit();

 private:
  OutputFile(std::filesystem::path path, std::filesystem::path beside, Fd fd);

  const std::filesystem::path path_;
  const std::filesystem::path beside_;
  const Fd fd_;
  Output out_;
};

}  // namespace skein
