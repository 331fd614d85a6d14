// A file that is read line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/file.h"
#include "core/line_buffer.h"
#include "skein/error.h"

namespace skein {

// Something about a file that a person should know.
struct FileProblem {
  std::filesystem::path file;
  std::uint64_t line = 0;  // 0: about the whole file
  std::string message;
};

// Reads one file from front to back, and never writes to it. Lines have twice the room of an event;
// longer ones come empty, and say so. Not thread-safe.
class LineFile {
 public:
  // kDamaged: it cannot be opened.
  static Result<LineFile> open(const std::filesystem::path& path);

  // The next line that is not blank, without white space around it; false at the end. Its text
  // lives until the next call. kDamaged: the file cannot be read, or has a line without an end.
  Result<bool> next(LineBuffer::Line& line);

 private:
  LineFile(std::filesystem::path path, Fd fd);

  std::filesystem::path path_;
  Fd fd_;
  std::unique_ptr<LineBuffer> buffer_;
};

}  // namespace skein
