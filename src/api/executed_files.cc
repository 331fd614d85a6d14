#include "api/executed_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/spelled_names.h"
#include "core/file.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostEntries = 1'000'000;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostFolders = 64;
constexpr std::size_t kMostFiles = 1024;

// What interpreters execute of a folder that is named to them.
constexpr const char* kEntryPoints[] = {"package.json", "index.js",  "index.mjs",   "index.cjs",
                                        "index.node",   "index.jsx", "index.ts",    "index.tsx",
                                        "index.mts",    "index.cts", "__init__.py", "__init__.pyc",
                                        "__init__.so",  "init.lua",  "__main__.py", "__main__.pyc"};

tl::unexpected<Error> not_determined(std::string reason) {
  return fail(ErrorCode::kInvalid, std::move(reason));
}

// What the agent's program finds there is not what this process finds.
Result<void> check_link(const fs::path& path) {
  if (!differs_between_processes(path)) return {};
  return not_determined(
      fmt::format("names {}, a link into /proc, which leads elsewhere in each process; remove it",
                  quote(path.string(), 200)));
}

class Finder {
 public:
  Finder(const std::string& workspace, ReadingBudget& budget)
      : workspace_(workspace), budget_(budget) {}

  Result<ExecutedFiles> find(const ExecutedText& text) {
    SKEIN_TRY(names_.read(text.words));
    SKEIN_TRY(add_working_folders(text.folder));
    // Folders are found in folders: this grows while it is read.
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      const fs::path folder = folders_[i];
      SKEIN_TRY(search(folder));
    }
    // "lib/sub/.." is a name of "lib".
    if (names_.has_dot()) named_.insert(folders_.begin(), folders_.end());
    for (const fs::path& folder : named_) SKEIN_TRY(add_what_is_executed_of(folder));
    return std::move(files_);
  }

 private:
  // A shell may begin at the working folder, and at any folder above it; names that begin at one
  // outside the workspace end with one that begins in it.
  Result<void> add_working_folders(const std::string& named) {
    SKEIN_TRY(add_folder(workspace_));
    SKEIN_ASSIGN(const Spelled spelled, names_.find(fs::path(workspace_).filename().string()));
    if (spelled == Spelled::kAtEnd) named_.insert(workspace_);
    if (!named.empty()) {
      std::error_code error;
      const fs::path folder = fs::canonical(named, error);
      if (error) {
        return not_determined("works in " + quote(named, 200) + ": " + error.message());
      }
      if (is_inside(folder, workspace_)) {
        SKEIN_TRY(add_with_those_above(folder));
      } else {
        SKEIN_TRY(add_folder(folder));
      }
    }
    return {};
  }

  Result<void> add_folder(const fs::path& folder) {
    if (std::find(folders_.begin(), folders_.end(), folder) != folders_.end()) return {};
    if (folders_.size() == kMostFolders) {
      return not_determined(
          fmt::format("names more than {} folders of the workspace; put its script into a file, "
                      "and name that file",
                      kMostFolders));
    }
    folders_.push_back(folder);
    return {};
  }

  // A link leads to folders whose names need not be spelled, and ".." leads up from there.
  Result<void> add_with_those_above(const fs::path& folder) {
    for (fs::path path = folder; is_inside(path, workspace_); path = path.parent_path()) {
      SKEIN_TRY(add_folder(path));
    }
    return {};
  }

  Result<void> search(const fs::path& folder) {
    SKEIN_ASSIGN(const std::vector<std::string>* const entries, budget_.entries_of(folder));
    for (const std::string& name : *entries) {
      SKEIN_ASSIGN(const Spelled spelled, names_.find(name));
      if (spelled != Spelled::kNowhere) {
        SKEIN_TRY(add_named(folder / name, spelled == Spelled::kAtEnd));
      }
    }
    return {};
  }

  Result<void> add_named(const fs::path& path, bool at_end) {
    SKEIN_TRY(check_link(path));
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    if (error) return {};  // nothing to execute, so far
    if (!fs::is_directory(target, error)) return add_file(path);
    if (is_inside(target, workspace_)) {
      if (at_end) named_.insert(target);
      return add_with_those_above(target);
    }
    if (is_inside(path, workspace_)) {
      files_.emplace(path.lexically_relative(workspace_).string(),
                     ExecutedFile{.path = target, .is_folder = true});
    }
    return check_count();
  }

  Result<void> add_what_is_executed_of(const fs::path& folder) {
    for (const char* name : kEntryPoints) SKEIN_TRY(add_file(folder / name));
    if (!names_.has_path()) return {};
    SKEIN_ASSIGN(const std::vector<std::string>* const entries, budget_.entries_of(folder));
    for (const std::string& name : *entries) {
      std::error_code error;
      const auto mode = fs::status(folder / name, error).permissions();
      constexpr fs::perms kExecutable =
          fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
      if (!error && (mode & kExecutable) != fs::perms::none) {
        SKEIN_TRY(add_file(folder / name));
      }
    }
    return {};
  }

  Result<void> add_file(const fs::path& file) {
    SKEIN_TRY(add_executed_file(file, workspace_, files_));
    return check_count();
  }

  Result<void> check_count() const {
    if (files_.size() <= kMostFiles) return {};
    return not_determined(
        fmt::format("names more than {} files of the workspace; name its programs by absolute "
                    "paths outside the workspace, or fewer of them",
                    kMostFiles));
  }

  const std::string& workspace_;
  ReadingBudget& budget_;
  SpelledNames names_;
  std::vector<fs::path> folders_;  // canonical, in the order in which they are searched
  std::set<fs::path> named_;       // those of them that the text names
  ExecutedFiles files_;
};

}  // namespace

Result<const std::vector<std::string>*> ReadingBudget::entries_of(const fs::path& folder) {
  if (const auto known = listings_.find(folder); known != listings_.end()) return &known->second;
  SKEIN_ASSIGN(std::vector<std::string> names, list_folder(folder.string()));
  entries_ += names.size();
  if (entries_ > kMostEntries) {
    return not_determined(
        fmt::format("names folders of the workspace that have more than {} entries; move the data "
                    "in them out of the workspace",
                    kMostEntries));
  }
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  return &(listings_[folder] = std::move(names));
}

Result<std::string> ReadingBudget::digest_of_file(const fs::path& file) {
  if (const auto known = digests_.find(file); known != digests_.end()) return known->second;
  const std::string path = file.string();
  const auto fd = open_file(path, O_RDONLY);
  if (!fd) {
    if (fd.error().code == ErrorCode::kNotFound) return std::string(64, '0');
    return tl::unexpected(fd.error());
  }
  Sha256 digest;
  std::string piece(std::size_t{64} << 10, '\0');
  for (std::uint64_t offset = 0;;) {
    SKEIN_ASSIGN(const std::size_t got, read_at(*fd, path, offset, piece.data(), piece.size()));
    if (got == 0) return digests_[file] = digest.hex();
    // Counted, since files of the kernel have no size and no end.
    bytes_ += got;
    if (offset + got > kMostFileBytes || bytes_ > kMostBytes) {
      return not_determined(
          fmt::format("names {}, which is too large to be checked: a file may have {} bytes, "
                      "and all files together {}",
                      quote(path), kMostFileBytes, kMostBytes));
    }
    digest.add(std::string_view(piece).substr(0, got));
    offset += got;
  }
}

Result<void> add_executed_file(const fs::path& file, const std::string& workspace,
                               ExecutedFiles& files) {
  SKEIN_TRY(check_link(file));
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  if (error || !fs::is_regular_file(target, error)) return {};
  for (const fs::path& path : {file.lexically_normal(), target}) {
    if (!is_inside(path, workspace)) continue;
    files.emplace(path.lexically_relative(workspace).string(), ExecutedFile{.path = target});
    break;
  }
  return {};
}

Result<ExecutedFiles> find_executed_files(const ExecutedText& text, const std::string& workspace,
                                          ReadingBudget& budget) {
  return Finder(workspace, budget).find(text);
}

}  // namespace skein
