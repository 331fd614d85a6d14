#include "api/transfer/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/json.h"
#include "skein/limits.h"

namespace skein {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
// A file can say that it is as long as it likes without taking room.
constexpr std::uint64_t kMostWithoutLine = std::uint64_t{64} << 20;
static_assert(kMostWithoutLine > 4 * limits::kMaxEventBytes);

Error file_error(const std::filesystem::path& path, const char* what) {
  return {ErrorCode::kDamaged,
          fmt::format("{}: cannot be {}: {}", path.string(), what, std::strerror(errno))};
}

}  // namespace

LineFile::LineFile(std::filesystem::path path, Fd fd)
    : path_(std::move(path)),
      fd_(std::move(fd)),
      buffer_(std::make_unique<LineBuffer>(2 * limits::kMaxEventBytes)) {}

Result<LineFile> LineFile::open(const std::filesystem::path& path) {
  // A pipe must make nobody wait for its other end.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return tl::unexpected(file_error(path, "opened"));
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return tl::unexpected(file_error(path, "opened"));
  if (!S_ISREG(st.st_mode)) {
    return fail(ErrorCode::kDamaged, path.string() + ": is not a regular file");
  }
  return LineFile(path, std::move(fd));
}

Result<bool> LineFile::next(LineBuffer::Line& line) {
  std::uint64_t without_line = 0;
  while (true) {
    while (buffer_->next(line)) {
      without_line = 0;
      line.text = trim_json(line.text);
      if (!line.text.empty() || line.too_long) return true;
    }
    if (without_line > kMostWithoutLine) {
      return fail(ErrorCode::kDamaged,
                  fmt::format("{}: a line has no end within {} bytes, and is longer than any event "
                              "may be",
                              path_.string(), without_line));
    }
    char* room = buffer_->room(kReadBytes);
    const ssize_t got = ::read(fd_.get(), room, kReadBytes);
    if (got < 0 && errno != EINTR) return tl::unexpected(file_error(path_, "read"));
    buffer_->fill(got > 0 ? static_cast<std::size_t>(got) : 0);
    without_line += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    if (got == 0) {
      buffer_->end();
      if (!buffer_->next(line)) return false;
      line.text = trim_json(line.text);
      return !line.text.empty() || line.too_long;
    }
  }
}

}  // namespace skein
