#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> cannot_write(const fs::path& path, int error) {
  return fail(ErrorCode::kIo,
              fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

}  // namespace

OutputFile::OutputFile(fs::path path, fs::path beside, int fd)
    : path_(std::move(path)), beside_(std::move(beside)), fd_(fd), out_(fd) {}

OutputFile::~OutputFile() {
  ::close(fd_);
  std::error_code ignored;
  fs::remove(beside_, ignored);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return cannot_write(path, error.value());
  fs::path beside = path;
  beside += fmt::format(".{}.part", ::getpid());
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return cannot_write(path, errno);
  return std::unique_ptr<OutputFile>(new OutputFile(path, std::move(beside), fd));
}

Result<void> OutputFile::commit() {
  SKEIN_TRY(out_.flush());
  if (::fsync(fd_) != 0) return cannot_write(path_, errno);
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
  return {};
}

}  // namespace skein
