#include "api/transfer/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/json.h"
#include "skein/limits.h"

namespace skein {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

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
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return tl::unexpected(file_error(path, "opened"));
  return LineFile(path, std::move(fd));
}

Result<bool> LineFile::next(LineBuffer::Line& line) {
  while (true) {
    while (buffer_->next(line)) {
      line.text = trim_json(line.text);
      if (!line.text.empty() || line.too_long) return true;
    }
    char* room = buffer_->room(kReadBytes);
    const ssize_t got = ::read(fd_.get(), room, kReadBytes);
    if (got < 0 && errno != EINTR) return tl::unexpected(file_error(path_, "read"));
    buffer_->fill(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got == 0) {
      buffer_->end();
      if (!buffer_->next(line)) return false;
      line.text = trim_json(line.text);
      return !line.text.empty() || line.too_long;
    }
  }
}

}  // namespace skein
