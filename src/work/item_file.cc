#include "work/item_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/checksum.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/own_folder.h"
#include "core/try.h"

namespace skein {
namespace {

// The list, its items, and what other programs keep in them.
constexpr std::size_t kMaxListDepth = kMaxDocumentDepth + 1;

// Beside the list: what only this machine has a use for.
constexpr std::string_view kNotForGit = "*.lock\n*.damaged-*\n*.tmp*\n";

// Links and folders are not written over, and not taken for an empty list.
Result<void> check_regular(const std::string& path) {
  struct stat st{};
  if (::lstat(path.c_str(), &st) != 0) {
    if (errno == ENOENT) return {};
    return tl::unexpected(io_error("stat", path, errno));
  }
  if (S_ISREG(st.st_mode)) return {};
  return fail(ErrorCode::kIo, path + " is not a regular file");
}

}  // namespace

ItemFile::ItemFile(const std::filesystem::path& workspace)
    : folder_((workspace / ".gitmem").string()), path_(folder_ + "/threads.json") {}

Error ItemFile::damaged(const std::string& bytes, const std::string& reason) const {
  const std::string copy = fmt::format("{}.damaged-{:08x}", path_, checksum(bytes));
  Flusher flusher;
  const auto there = stat_file(copy);
  const bool kept = (there && *there) || replace_file(copy, bytes, flusher);
  return {
      ErrorCode::kDamaged,
      fmt::format(
          "{} is not a valid item list: {}. The file was not changed{}; fix it, or move it away "
          "and start a session to get back what earlier sessions stored",
          path_, reason, kept ? ", with a copy in " + copy : "")};
}

Result<ItemList> ItemFile::read() const {
  SKEIN_TRY(check_regular(path_));
  SKEIN_ASSIGN(const auto stamp, stat_file(path_));
  SKEIN_ASSIGN(const auto bytes, read_file(path_, limits::kMaxItemListBytes));
  if (!stamp || !bytes) return ItemList{};
  if (auto valid = validate_json(*bytes, "the file", kMaxListDepth); !valid) {
    return tl::unexpected(damaged(*bytes, valid.error().message));
  }
  if (!trim_json(*bytes).starts_with('[')) {
    return tl::unexpected(damaged(*bytes, "it must be a JSON array"));
  }
  return read_items(*bytes, Timestamp::from_ms(stamp->mtime_ns / 1'000'000));
}

Result<void> ItemFile::update(const std::function<Result<void>(ItemList&)>& change,
                              std::size_t keep_free) const {
  Flusher flusher;
  SKEIN_TRY(make_folders(folder_, flusher));
  SKEIN_TRY(ignore_in_git(folder_, kNotForGit, flusher));
  const std::string lock_path = path_ + ".lock";
  SKEIN_ASSIGN(const Fd lock_fd, open_file(lock_path, O_RDWR | O_CREAT));
  SKEIN_ASSIGN(const FileLock lock, FileLock::acquire(lock_fd.get(), 0, LockMode::kExclusive));

  SKEIN_ASSIGN(ItemList list, read());
  const ItemList before = list;
  SKEIN_TRY(change(list));
  if (list == before) return {};
  const std::string json = to_json(list);
  const std::size_t limit = limits::kMaxItemListBytes - keep_free;
  if (json.size() > limit) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the list of items must not exceed {} bytes, would have {}", limit,
                            json.size()));
  }
  return replace_file(path_, json, flusher);
}

}  // namespace skein
