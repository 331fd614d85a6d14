#include "work/file_content.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <optional>

#include "core/sha256.h"

namespace skein {
namespace {

constexpr std::string_view kAbsent = "absent";
constexpr std::string_view kHash = "sha256:";
constexpr std::string_view kSize = "size:";

std::string link_content(int folder, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (size < 0) return "";
  return "link:" + sha256_hex({target.data(), static_cast<std::size_t>(size)});
}

// Nothing: it cannot be read to its end, or is longer than `most` bytes.
std::optional<std::string> hash_of(const Fd& fd, std::uint64_t most) {
  std::array<char, 64 << 10> buffer{};
  Sha256 hash;
  std::uint64_t done = 0;
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return hash.hex();
    done += static_cast<std::uint64_t>(got);
    if (done > most) return std::nullopt;
    hash.add({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

FileContents::FileContents(const std::string& folder)
    : folder_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

std::string FileContents::of_file(int folder, const std::string& name, std::uint64_t size) {
  const std::string by_size = std::string(kSize) + std::to_string(size);
  if (size > kMaxFileBytes || size > left_) return by_size;
  // Not to wait for a pipe that took the place of the file meanwhile.
  const Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st{};
  if (!fd.is_open() || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return "";
  left_ -= size;
  const auto hash = hash_of(fd, size);
  return hash ? std::string(kHash) + *hash : by_size;
}

std::string FileContents::of(const std::string& path) {
  if (!folder_.is_open() || path.find('\0') != std::string::npos) return "";
  Fd opened;
  int folder = folder_.get();
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin);
    const std::string name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return "";
    if (end == std::string::npos) {
      struct stat st{};
      if (::fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? std::string(kAbsent) : "";
      }
      if (S_ISLNK(st.st_mode)) return link_content(folder, name);
      if (!S_ISREG(st.st_mode)) return "";
      return of_file(folder, name, static_cast<std::uint64_t>(st.st_size));
    }
    Fd next(::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) {
      return errno == ENOENT || errno == ENOTDIR ? std::string(kAbsent) : "";
    }
    opened = std::move(next);
    folder = opened.get();
    begin = end + 1;
  }
}

bool FileContents::is_still(const std::string& path, std::string_view then) {
  const std::string now = of(path);
  if (now.empty() || now == then) return true;
  const bool beyond_limits = now.starts_with(kSize) && then.starts_with(kHash);
  if (!beyond_limits) return false;
  // A file that was hashed had at most this many bytes.
  return std::stoull(now.substr(kSize.size())) <= kMaxFileBytes;
}

}  // namespace skein
