#include "core/scratch_folder.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/file.h"
#include "core/try.h"

namespace skein {

Result<ScratchFolder> ScratchFolder::create() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) return fail(ErrorCode::kIo, "there is no temporary folder: " + error.message());
  std::string path = (parent / "skein-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return tl::unexpected(io_error("make", path, errno));
  return ScratchFolder(std::move(path));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> ScratchFolder::write(std::string_view name, std::string_view bytes) const {
  const std::string file = path_ + "/" + std::string(name);
  SKEIN_ASSIGN(const Fd fd, open_file(file, O_WRONLY | O_CREAT | O_EXCL, 0600));
  SKEIN_TRY(write_at(fd, file, 0, bytes));
  return file;
}

}  // namespace skein
