#include "work/checkpoint_folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

#include "core/confined_path.h"
#include "core/json_fields.h"
#include "core/own_folder.h"
#include "core/quote.h"
#include "core/try.h"
#include "core/visible.h"
#include "skein/limits.h"

namespace skein {
namespace {

constexpr std::string_view kSuffix = ".json";

bool is_month(std::string_view name) {
  const auto digits = [](std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return name.size() == 7 && name[4] == '-' && digits(name.substr(0, 4)) && digits(name.substr(5));
}

bool is_folder(const std::string& path) {
  struct stat st{};
  return ::lstat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

bool is_commit_id(std::string_view text) {
  return text.size() >= 7 && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<void> add_files(const std::string& folder, bool older, const std::string& archive,
                       std::vector<CheckpointFolder::File>& files) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return tl::unexpected(io_error("list", folder, errno));
  }
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.') || !name.ends_with(kSuffix)) continue;
    if (!older && is_of_another_kind(name)) continue;
    struct stat st{};
    if (::fstatat(::dirfd(dir.get()), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(st.st_mode)) continue;
    files.push_back({std::string(name.substr(0, name.size() - kSuffix.size())),
                     older,
                     {.inode = st.st_ino,
                      .size = static_cast<std::uint64_t>(st.st_size),
                      .mtime_ns = st.st_mtim.tv_sec * 1'000'000'000LL + st.st_mtim.tv_nsec},
                     archive});
  }
  return {};
}

}  // namespace

bool is_of_another_kind(std::string_view name) {
  return name == "handoff.json" || name.ends_with(".changeset.json");
}

Result<std::vector<std::string>> archived_months(const std::string& threads) {
  const std::string archive = threads + "/archive";
  if (!is_folder(archive)) return std::vector<std::string>();
  SKEIN_ASSIGN(auto months, list_folder(archive));
  std::erase_if(months, [&archive](const std::string& month) {
    return !is_month(month) || !is_folder(archive + "/" + month);
  });
  return months;
}

Result<Checkpoint> parse_older_checkpoint(std::string_view json, const std::string& id,
                                          Timestamp written) {
  if (auto newer = parse_checkpoint(json)) return newer;
  SKEIN_ASSIGN(const Json document, Json::parse_object(json));
  JsonFields fields(document.text());
  Checkpoint checkpoint;
  checkpoint.title = fields.take_string("task_id").value_or(id);
  auto created = fields.take_time("created_at");
  if (!created) created = fields.take_time("completed_at");
  checkpoint.created_at = created.value_or(written);
  checkpoint.updated_at = fields.take_time("updated_at").value_or(checkpoint.created_at);
  checkpoint.summary = fields.take_string("summary").value_or("");
  checkpoint.files_touched =
      fields.take_strings("files_touched").value_or(std::vector<std::string>());
  checkpoint.next_steps = fields.take_strings("next_steps");
  if (auto commits = fields.take_strings("recent_commits")) {
    checkpoint.git.emplace().commits_made = std::move(commits);
  }
  const auto commit = fields.take<std::string>("commit", [](RawJson value) {
    auto text = json_to_string(value);
    return text && is_commit_id(*text) ? text : std::nullopt;
  });
  if (commit) {
    if (!checkpoint.git) checkpoint.git.emplace();
    checkpoint.git->current_commit = commit;
  }
  checkpoint.extra = fields.rest();
  return checkpoint;
}

std::string CheckpointFolder::path_of(const std::string& id) const {
  return threads() + "/" + id + std::string(kSuffix);
}

std::string CheckpointFolder::path_of(const File& file) const {
  if (file.older) return older() + "/" + file.id + std::string(kSuffix);
  return path_of(file.archive.empty() ? file.id : "archive/" + file.archive + "/" + file.id);
}

Result<void> CheckpointFolder::check_writable() const { return check_no_links(threads()); }

Result<std::vector<CheckpointFolder::File>> CheckpointFolder::files() const {
  std::vector<File> files;
  SKEIN_TRY(add_files(threads(), false, "", files));
  SKEIN_TRY(add_files(older(), true, "", files));
  SKEIN_ASSIGN(const auto months, archived_months(threads()));
  for (const std::string& month : months) {
    SKEIN_TRY(add_files(threads() + "/archive/" + month, false, month, files));
  }
  return files;
}

Result<Checkpoint> CheckpointFolder::load(const File& file) const {
  if (file.id.find('/') != std::string::npos) {
    return fail(ErrorCode::kNotFound, "no checkpoint has the id " + quote(file.id));
  }
  const std::string path = path_of(file);
  SKEIN_ASSIGN(const auto text, read_file(path, limits::kMaxCheckpointBytes));
  if (!text) return fail(ErrorCode::kNotFound, "there is no checkpoint " + visible_line(path));
  auto checkpoint = file.older
                        ? parse_older_checkpoint(*text, file.id,
                                                 Timestamp{file.stamp.mtime_ns / 1'000'000 * 1000})
                        : parse_checkpoint(*text);
  if (!checkpoint)
    return fail(ErrorCode::kDamaged, visible_line(path) + ": " + checkpoint.error().message);
  checkpoint->id = file.id;
  checkpoint->older = file.older;
  checkpoint->archive = file.archive;
  return checkpoint;
}

Result<bool> CheckpointFolder::create(const Checkpoint& checkpoint) {
  SKEIN_TRY(make_folders(threads(), flusher_));
  return create_file(path_of(checkpoint.id), to_json(checkpoint), flusher_);
}

Result<void> CheckpointFolder::replace(const Checkpoint& checkpoint) {
  return replace_file(path_of(checkpoint.id), to_json(checkpoint), flusher_);
}

Result<void> CheckpointFolder::remove(const std::string& id) {
  SKEIN_TRY(remove_file(path_of(id)));
  return flusher_.folder(threads());
}

Result<void> CheckpointFolder::prepare_beside() { return make_own_folder(workspace_, flusher_); }

Result<CheckpointFolder::Lock> CheckpointFolder::lock() {
  SKEIN_TRY(prepare_beside());
  SKEIN_ASSIGN(Fd fd, open_file(beside("checkpoints.lock"), O_RDWR | O_CREAT));
  SKEIN_ASSIGN(FileLock lock, FileLock::acquire(fd.get(), 0, LockMode::kExclusive));
  return Lock(std::move(fd), std::move(lock));
}

}  // namespace skein
