#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/confined_path.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> cannot_write(const fs::path& path, int error) {
  return fail(ErrorCode::kIo,
              fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

}  // namespace

OutputFile::OutputFile(fs::path path, fs::path beside, Fd fd)
    : path_(std::move(path)), beside_(std::move(beside)), fd_(std::move(fd)), out_(fd_.get()) {}

OutputFile::~OutputFile() {
  std::error_code ignored;
  fs::remove(beside_, ignored);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const fs::path& path) {
  Flusher flusher;
  if (path.has_parent_path()) SKEIN_TRY(make_folders(path.parent_path().string(), flusher));
  fs::path beside = path;
  beside += fmt::format(".{}.part", ::getpid());
  SKEIN_ASSIGN(Fd fd, open_file(beside.string(), O_WRONLY | O_CREAT | O_TRUNC));
  struct stat before{};
  if (::lstat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode) &&
      ::fchmod(fd.get(), before.st_mode & 0777U) != 0) {
    return cannot_write(path, errno);
  }
  return std::unique_ptr<OutputFile>(new OutputFile(path, std::move(beside), std::move(fd)));
}

Result<void> OutputFile::commit() {
  SKEIN_TRY(out_.flush());
  if (::fsync(fd_.get()) != 0) return cannot_write(path_, errno);
  SKEIN_ASSIGN(const auto confined, find_confined(path_.string()));
  const int folder = confined ? confined->folder.get() : AT_FDCWD;
  const fs::path from = confined ? beside_.filename() : beside_;
  const fs::path to = confined ? fs::path(confined->name) : path_;
  if (::renameat(folder, from.c_str(), folder, to.c_str()) != 0) {
    return cannot_write(path_, errno);
  }
  return {};
}

}  // namespace skein
