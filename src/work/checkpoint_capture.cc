#include "work/checkpoint_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/path_inside.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "core/visible.h"
#include "skein/limits.h"
#include "work/file_content.h"
#include "work/knowledge_repos.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// With links resolved, as git names folders; as it is, where that cannot be.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical;
}

// Nothing, when it is not in it.
std::optional<std::string> inside(const fs::path& base, const fs::path& path) {
  const fs::path relative = resolved(path).lexically_relative(resolved(base));
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.string();
}

// The id that "def5678: subject" begins with; empty: it begins with none.
std::string_view id_in(std::string_view commit) {
  const std::string_view id = commit.substr(0, commit.find(':'));
  return id.size() < commit.size() && is_hex(id) ? id : std::string_view();
}

bool is_listed(const std::vector<Commit>& commits, std::string_view id) {
  return std::any_of(commits.begin(), commits.end(),
                     [id](const Commit& commit) { return commit.id.starts_with(id); });
}

class Capture {
 public:
  Capture(Checkpoint& checkpoint, const CheckpointsOptions& options)
      : checkpoint_(checkpoint), options_(options) {}

  Result<void> first(const NewCheckpoint& wanted) {
    const std::string folder = wanted.folder.empty() ? options_.workspace : wanted.folder;
    checkpoint_.workspace_root = mended_utf8(with_tilde(options_.workspace));
    checkpoint_.cwd = mended_utf8(path_from(options_.workspace, folder));
    auto repository = Repository::find(folder);
    const bool known = repository && *repository;
    name_files(known ? *repository : std::nullopt, wanted.files_touched);
    if (!repository) return tl::unexpected(repository.error());
    if (!known) return {};
    SKEIN_ASSIGN(const RepositoryState state, state_of(**repository));
    CheckpointGit& git = checkpoint_.git.emplace();
    describe(state, git);
    if (is_full()) SKEIN_TRY(describe_session(**repository, state, wanted, git));
    describe_files(**repository, state, git);
    return {};
  }

  Result<void> again(const std::vector<std::string>& files) {
    auto repository = checkpoint_repository(checkpoint_, options_.workspace);
    const bool known = repository && *repository;
    name_files(known ? *repository : std::nullopt, files);
    if (!repository) return tl::unexpected(repository.error());
    if (!known) return {};
    CheckpointGit git = checkpoint_.git.value_or(CheckpointGit{});
    std::optional<Commit> before;
    if (git.current_commit) {
      if (is_hex(*git.current_commit)) {
        SKEIN_ASSIGN(before, (*repository)->commit(*git.current_commit));
      }
      if (!before) {
        return fail(ErrorCode::kNotFound,
                    "commit " + quote(*git.current_commit) + " is not in this repository");
      }
    }
    SKEIN_ASSIGN(const RepositoryState state, state_of(**repository));
    const bool same_branch = git.branch == state.branch;
    describe(state, git);
    if (is_full() && before) {
      SKEIN_TRY(add_commits(**repository, *before, same_branch, git));
    }
    checkpoint_.git = std::move(git);
    describe_files(**repository, state, *checkpoint_.git);
    return {};
  }

 private:
  bool is_full() const { return checkpoint_.type != CheckpointType::kAuto; }

  Result<RepositoryState> state_of(const Repository& repository) const {
    return repository.state(own_files(repository, options_.workspace));
  }

  void name_files(const std::optional<Repository>& repository,
                  const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      add_file(file_from(repository, options_.workspace, file));
    }
  }

  void describe(const RepositoryState& state, CheckpointGit& git) const {
    git.branch = state.branch;
    if (state.head) git.current_commit = state.head->short_id;
    git.dirty = state.dirty();
    if (const std::string text = not_examined_text(state); !text.empty() && options_.notice) {
      options_.notice(text);
    }
    if (is_full() && !state.remote_url.empty()) git.remote_url = state.remote_url;
  }

  Result<void> describe_session(const Repository& repository, const RepositoryState& state,
                                const NewCheckpoint& wanted, CheckpointGit& git) {
    git.commits_made.emplace();
    if (!state.head) return {};
    std::optional<Commit> initial;
    if (!wanted.initial_commit.empty()) {
      SKEIN_ASSIGN(initial, repository.commit(wanted.initial_commit));
    }
    std::vector<Commit> made;
    if (initial || wanted.session_began) {
      SKEIN_ASSIGN(made, repository.commits({.not_in = initial ? initial->id : "",
                                             .since = wanted.session_began,
                                             .limit = limits::kMaxCheckpointItems}));
    }
    if (!initial && made.empty()) initial = state.head;
    if (!initial) {
      SKEIN_ASSIGN(initial, repository.commit(made.back().id + "^"));
    }
    if (initial) git.initial_commit = initial->short_id;
    std::reverse(made.begin(), made.end());
    return name_commits(repository, made, git);
  }

  // Beyond the limit it says once that there are more.
  void add_file(const std::string& file) {
    auto& files = checkpoint_.files_touched;
    const bool no_room = files.size() >= limits::kMaxCheckpointItems;
    if (no_room && has_left_out_) return;
    const std::string text = mended_utf8(file);
    if (std::find(files.begin(), files.end(), text) != files.end()) return;
    if (!no_room) {
      files.push_back(text);
      return;
    }
    has_left_out_ = true;
    if (!options_.notice) return;
    options_.notice(
        fmt::format("files_touched names the first {} files; there are more", files.size()));
  }

  // What was committed since the checkpoint was made. On the same branch, listed commits that the
  // branch has no longer (amended, rebased) go.
  Result<void> add_commits(const Repository& repository, const Commit& before, bool same_branch,
                           CheckpointGit& git) {
    std::optional<Commit> initial;
    if (git.initial_commit && is_hex(*git.initial_commit)) {
      SKEIN_ASSIGN(initial, repository.commit(*git.initial_commit));
    }
    SKEIN_ASSIGN(const std::vector<Commit> now,
                 repository.commits({.not_in = initial ? initial->id : before.id,
                                     .limit = limits::kMaxCheckpointItems}));
    if (!git.commits_made) git.commits_made.emplace();
    auto& made = *git.commits_made;
    if (initial && same_branch && now.size() < limits::kMaxCheckpointItems) {
      std::erase_if(made, [&now](const std::string& commit) {
        const std::string_view id = id_in(commit);
        return !id.empty() && !is_listed(now, id);
      });
    }
    const std::int64_t began = checkpoint_.created_at.ms() / 1000 * 1000;
    std::vector<Commit> added;
    for (auto commit = now.rbegin(); commit != now.rend(); ++commit) {
      const bool known = std::any_of(made.begin(), made.end(), [&commit](const auto& entry) {
        return !id_in(entry).empty() && commit->id.starts_with(id_in(entry));
      });
      if (!known && commit->committed_at.ms() >= began) added.push_back(*commit);
    }
    return name_commits(repository, added, git);
  }

  // The oldest first.
  Result<void> name_commits(const Repository& repository, const std::vector<Commit>& commits,
                            CheckpointGit& git) {
    std::vector<std::string> ids;
    for (const Commit& commit : commits) {
      if (git.commits_made->size() >= limits::kMaxCheckpointItems) break;
      git.commits_made->push_back(commit.short_id + ": " + commit.subject);
      ids.push_back(commit.id);
    }
    SKEIN_ASSIGN(const auto files, repository.files_of(ids));
    for (const std::string& file : files) add_file(file);
    return {};
  }

  void describe_files(const Repository& repository, const RepositoryState& state,
                      CheckpointGit& git) {
    if (is_full()) {
      for (const std::string& file : state.changed_files) {
        if (!file.ends_with('/')) add_file(file);
      }
    }
    record_contents(repository, state.changed_files, git);
    if (is_full()) describe_knowledge(git);
  }

  // A checkpoint compares later with these files as they are now, not with the last commit.
  void record_contents(const Repository& repository, const std::vector<std::string>& changed,
                       CheckpointGit& git) const {
    git.uncommitted.reset();
    FileContents contents(repository.root());
    const std::set<std::string> touched(checkpoint_.files_touched.begin(),
                                        checkpoint_.files_touched.end());
    for (const std::string& file : changed) {
      if (!touched.contains(file)) continue;
      const std::string content = contents.of(file);
      if (content.empty()) continue;
      if (!git.uncommitted) git.uncommitted.emplace();
      git.uncommitted->push_back({file, content});
    }
  }

  void describe_knowledge(CheckpointGit& git) const {
    auto states = knowledge_states(options_);
    if (!states.empty() || !options_.knowledge_repos.empty()) {
      git.knowledge_repos = std::move(states);
    }
  }

  Checkpoint& checkpoint_;
  const CheckpointsOptions& options_;
  bool has_left_out_ = false;
};

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

}  // namespace

std::string with_tilde(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return path;
  const auto relative = inside(home, path);
  if (!relative) return path;
  return *relative == "." ? "~" : "~/" + *relative;
}

std::string path_from(const std::string& base, const std::string& path) {
  return inside(base, path).value_or(path);
}

std::string file_from(const std::optional<Repository>& repository, const std::string& workspace,
                      const std::string& path) {
  if (!fs::path(path).is_absolute()) return path;
  if (repository && !repository->bare()) {
    if (auto relative = inside(repository->root(), path)) return *relative;
  }
  return path_from(workspace, path);
}

std::vector<std::string> own_files(const Repository& repository, const std::string& workspace) {
  std::vector<std::string> own;
  for (const char* name : {".skein", ".gitmem", "workspace/threads"}) {
    if (auto relative = inside(repository.root(), fs::path(workspace) / name)) {
      own.push_back(*relative);
    }
  }
  return own;
}

std::string checkpoint_folder(const Checkpoint& checkpoint, const std::string& workspace) {
  return (fs::path(workspace) / checkpoint.cwd).lexically_normal().string();
}

Result<std::optional<Repository>> checkpoint_repository(const Checkpoint& checkpoint,
                                                        const std::string& workspace) {
  const std::string folder = checkpoint_folder(checkpoint, workspace);
  SKEIN_ASSIGN(auto repository, Repository::find(folder));
  if (repository) SKEIN_TRY(check_is_ours(*repository, folder, workspace));
  return repository;
}

void capture(Checkpoint& checkpoint, const NewCheckpoint& wanted,
             const CheckpointsOptions& options) {
  if (auto captured = Capture(checkpoint, options).first(wanted); !captured && options.notice) {
    options.notice("without git: " + captured.error().message);
  }
}

void capture_again(Checkpoint& checkpoint, const std::vector<std::string>& files,
                   const CheckpointsOptions& options) {
  if (auto captured = Capture(checkpoint, options).again(files); !captured && options.notice) {
    options.notice("the state of git stays as it was: " + captured.error().message);
  }
}

}  // namespace skein
