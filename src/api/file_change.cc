#include "api/file_change.h"

#include "core/confined_path.h"
#include "core/file.h"
#include "core/own_folder.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

// A file of the user's may be a link into a folder of theirs, and then that one changes. Links in a
// workspace are refused.
Result<std::filesystem::path> without_links(std::filesystem::path file) {
  SKEIN_TRY(check_no_links(file.string()));
  std::error_code error;
  if (!std::filesystem::is_symlink(file, error)) return file;
  std::filesystem::path target = std::filesystem::canonical(file, error);
  if (!error) return target;
  return fail(ErrorCode::kIo, file.string() + " is a symbolic link to nowhere: " + error.message());
}

}  // namespace

Result<FileChange> plan_change(
    std::filesystem::path file,
    const std::function<Result<std::string>(std::string_view before)>& make) {
  FileChange change;
  SKEIN_ASSIGN(change.file, without_links(std::move(file)));
  const std::string path = change.file.string();
  SKEIN_ASSIGN(auto text, read_file(path, kMaxBytes));
  change.before = text.value_or("");
  auto after = make(change.before);
  if (!after) return fail(after.error().code, path + ": " + after.error().message);
  change.after = std::move(*after);
  return change;
}

Result<void> apply_change(const FileChange& change) {
  const std::string path = change.file.string();
  SKEIN_ASSIGN(const auto now, read_file(path, kMaxBytes));
  if (now.value_or("") != change.before) {
    return fail(ErrorCode::kConflict, path + " was changed meanwhile; nothing was written");
  }
  Flusher flusher;
  const std::string folder = parent_folder(path);
  const bool own = std::filesystem::path(folder).filename() == kOwnFolderName;
  SKEIN_TRY(own ? make_store_folder(folder, flusher) : make_folders(folder, flusher));
  return replace_file(path, change.after, flusher);
}

}  // namespace skein
