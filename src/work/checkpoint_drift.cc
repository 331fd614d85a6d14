#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/path_inside.h"
#include "core/quote.h"
#include "core/try.h"
#include "core/visible.h"
#include "git/repository.h"
#include "skein/checkpoints.h"
#include "work/checkpoint_capture.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNewCommits = 20;

// A checkpoint names files from the root of its repository or from the workspace; git takes the
// former.
std::vector<std::string> from_root(const Repository& repository, const std::string& workspace,
                                   const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    if (file.empty() || file.find('\0') != std::string::npos) continue;
    std::error_code error;
    const bool below_root =
        fs::path(file).is_relative() && !fs::exists(fs::path(workspace) / file, error);
    const std::string path =
        below_root ? file : file_from(repository, workspace, (fs::path(workspace) / file).string());
    paths.push_back(fs::path(path).is_relative() ? path : file);
  }
  std::erase_if(paths, [](const std::string& path) {
    return fs::path(path).is_absolute() || path.starts_with("..");
  });
  return paths;
}

// A checkpoint is a file that may have come with the workspace. It can name a folder in the
// workspace, or in another work tree of the same repository, and no other repository.
Result<void> check_is_ours(const Repository& repository, const std::string& folder,
                           const std::string& workspace) {
  std::error_code error;
  const fs::path root = fs::canonical(workspace, error);
  if (is_inside(fs::weakly_canonical(folder, error), root)) return {};
  SKEIN_ASSIGN(const auto own, Repository::find(workspace));
  if (own && own->common_folder() == repository.common_folder()) return {};
  return fail(ErrorCode::kInvalid, visible_line(folder) + " is outside the workspace");
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

Result<void> compare(const Checkpoint& checkpoint, const std::string& workspace,
                     CheckpointDrift& drift) {
  const std::string folder = (fs::path(workspace) / checkpoint.cwd).lexically_normal().string();
  SKEIN_ASSIGN(const auto repository, Repository::find(folder));
  if (!repository) return fail(ErrorCode::kNotFound, visible_line(folder) + " is in no repository");
  SKEIN_TRY(check_is_ours(*repository, folder, workspace));
  if (!is_hex(drift.commit_then)) {
    return fail(ErrorCode::kInvalid, quote(drift.commit_then) + " is no commit id");
  }
  SKEIN_ASSIGN(const RepositoryState state, repository->state(own_files(*repository, workspace)));
  drift.branch_now = state.branch;
  drift.commit_now = state.head ? state.head->short_id : "";
  drift.dirty = state.dirty();
  if (drift.commit_then.empty()) return {};

  SKEIN_ASSIGN(const auto then, repository->commit(drift.commit_then));
  drift.commit_missing = !then;
  if (!then || !state.head) return {};
  SKEIN_ASSIGN(drift.commits_since, repository->count_commits(then->id, "HEAD"));
  SKEIN_ASSIGN(drift.commits_left, repository->count_commits("HEAD", then->id));
  if (drift.commits_since > 0) {
    SKEIN_ASSIGN(const auto commits,
                 repository->commits({.not_in = then->id, .limit = kMostNewCommits}));
    for (const Commit& commit : commits) {
      drift.new_commits.push_back(commit.short_id + ": " + commit.subject);
    }
  }
  SKEIN_ASSIGN(drift.changed_files,
               repository->changed_since(
                   then->id, from_root(*repository, workspace, checkpoint.files_touched)));
  return {};
}

}  // namespace

bool CheckpointDrift::none() const {
  return unknown.empty() && !commit_missing && branch_then == branch_now && commits_since == 0 &&
         commits_left == 0 && changed_files.empty();
}

CheckpointDrift Checkpoints::drift(const Checkpoint& checkpoint) const {
  CheckpointDrift drift;
  if (!checkpoint.git || !checkpoint.git->current_commit) {
    drift.unknown = "the checkpoint names no commit";
    return drift;
  }
  drift.branch_then = checkpoint.git->branch.value_or("");
  drift.commit_then = *checkpoint.git->current_commit;
  if (auto compared = compare(checkpoint, options_.workspace, drift); !compared) {
    drift.unknown = compared.error().message;
  }
  return drift;
}

}  // namespace skein
