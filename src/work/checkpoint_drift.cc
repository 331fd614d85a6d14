#include <algorithm>
#include <filesystem>
#include <set>

#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "core/visible.h"
#include "git/repository.h"
#include "skein/checkpoints.h"
#include "work/checkpoint_capture.h"
#include "work/file_content.h"

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

// Files whose content was recorded are compared with that, all others with the commit of then.
Result<std::vector<std::string>> changed_files(const Checkpoint& checkpoint,
                                               const Repository& repository,
                                               const std::string& then,
                                               const std::string& workspace) {
  std::vector<std::string> paths = from_root(repository, workspace, checkpoint.files_touched);
  std::vector<std::string> changed;
  std::set<std::string> recorded;
  if (checkpoint.git->uncommitted && !repository.bare()) {
    FileContents contents(repository.root());
    for (const auto& [path, content] : *checkpoint.git->uncommitted) {
      if (!recorded.insert(path).second) continue;
      if (!contents.is_still(path, content)) changed.push_back(path);
    }
  }
  std::erase_if(paths, [&](const std::string& path) { return recorded.contains(path); });
  SKEIN_ASSIGN(const auto committed, repository.changed_since(then, paths));
  changed.insert(changed.end(), committed.begin(), committed.end());
  std::sort(changed.begin(), changed.end());
  return changed;
}

Result<void> compare(const Checkpoint& checkpoint, const std::string& workspace,
                     CheckpointDrift& drift) {
  SKEIN_ASSIGN(const auto repository, checkpoint_repository(checkpoint, workspace));
  if (!repository) {
    return fail(ErrorCode::kNotFound,
                visible_line(checkpoint_folder(checkpoint, workspace)) + " is in no repository");
  }
  if (!drift.commit_then.empty() && !is_hex(drift.commit_then)) {
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
  SKEIN_ASSIGN(drift.changed_files, changed_files(checkpoint, *repository, then->id, workspace));
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
