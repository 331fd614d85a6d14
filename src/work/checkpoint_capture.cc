#include "work/checkpoint_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/quote.h"
#include "core/try.h"
#include "core/visible.h"
#include "skein/limits.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// For all of them together; each command of git has a limit of its own.
constexpr std::int64_t kLongestKnowledgeMs = 10'000;

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

void add_file(Checkpoint& checkpoint, const std::string& file) {
  auto& files = checkpoint.files_touched;
  const std::string text = mended_utf8(file);
  if (files.size() >= limits::kMaxCheckpointItems) return;
  if (std::find(files.begin(), files.end(), text) == files.end()) files.push_back(text);
}

class Capture {
 public:
  Capture(Checkpoint& checkpoint, const NewCheckpoint& wanted, const CheckpointsOptions& options)
      : checkpoint_(checkpoint),
        wanted_(wanted),
        options_(options),
        folder_(wanted.folder.empty() ? options.workspace : wanted.folder) {}

  Result<void> run() {
    checkpoint_.workspace_root = mended_utf8(with_tilde(options_.workspace));
    checkpoint_.cwd = mended_utf8(path_from(options_.workspace, folder_));
    auto repository = Repository::find(folder_);
    const bool known = repository && *repository;
    for (const std::string& file : wanted_.files_touched) {
      add_file(checkpoint_,
               file_from(known ? *repository : std::nullopt, options_.workspace, file));
    }
    if (!repository) return tl::unexpected(repository.error());
    if (!known) return {};
    return describe(**repository);
  }

 private:
  Result<void> describe(const Repository& repository) {
    SKEIN_ASSIGN(const RepositoryState state,
                 repository.state(own_files(repository, options_.workspace)));
    CheckpointGit& git = checkpoint_.git.emplace();
    git.branch = state.branch;
    if (state.head) git.current_commit = state.head->short_id;
    git.dirty = state.dirty();
    if (checkpoint_.type == CheckpointType::kAuto) return {};

    if (!state.remote_url.empty()) git.remote_url = state.remote_url;
    SKEIN_TRY(describe_session(repository, state, git));
    for (const std::string& file : state.changed_files) add_file(checkpoint_, file);
    describe_knowledge(git);
    return {};
  }

  Result<void> describe_session(const Repository& repository, const RepositoryState& state,
                                CheckpointGit& git) {
    git.commits_made.emplace();
    if (!state.head) return {};
    std::optional<Commit> initial;
    if (!wanted_.initial_commit.empty()) {
      SKEIN_ASSIGN(initial, repository.commit(wanted_.initial_commit));
    }
    std::vector<Commit> made;
    if (initial || wanted_.session_began) {
      SKEIN_ASSIGN(made, repository.commits({.not_in = initial ? initial->id : "",
                                             .since = wanted_.session_began,
                                             .limit = limits::kMaxCheckpointItems}));
    }
    if (!initial && made.empty()) initial = state.head;
    if (!initial) {
      SKEIN_ASSIGN(initial, repository.commit(made.back().id + "^"));
    }
    if (initial) git.initial_commit = initial->short_id;
    std::vector<std::string> ids;
    for (auto commit = made.rbegin(); commit != made.rend(); ++commit) {
      git.commits_made->push_back(commit->short_id + ": " + commit->subject);
      ids.push_back(commit->id);
    }
    SKEIN_ASSIGN(const auto files, repository.files_of(ids));
    for (const std::string& file : files) add_file(checkpoint_, file);
    return {};
  }

  // Several names may stand for one folder. What takes too long, or cannot be read, is left out.
  void describe_knowledge(CheckpointGit& git) {
    if (options_.knowledge_repos.empty()) return;
    git.knowledge_repos.emplace();
    const std::int64_t deadline = options_.clock->boot_ms() + kLongestKnowledgeMs;
    std::map<fs::path, std::optional<Json>> states;
    std::string late;
    for (const auto& [name, folder] : options_.knowledge_repos) {
      const fs::path place = resolved(fs::path(options_.workspace) / folder);
      auto known = states.find(place);
      if (known == states.end() && options_.clock->boot_ms() >= deadline) {
        late += (late.empty() ? "" : ", ") + quote(name);
        continue;
      }
      if (known == states.end()) {
        auto state = knowledge_state(place.string());
        if (!state) tell("knowledge repository " + quote(name) + ": " + state.error().message);
        known = states.emplace(place, state ? std::optional(*state) : std::nullopt).first;
      }
      if (known->second) git.knowledge_repos->push_back({name, *known->second});
    }
    if (late.empty()) return;
    tell(fmt::format("left out, as knowledge repositories took longer than {} s: {}",
                     kLongestKnowledgeMs / 1000, late));
  }

  static Result<Json> knowledge_state(const std::string& folder) {
    SKEIN_ASSIGN(const auto repository, Repository::find(folder));
    if (!repository)
      return fail(ErrorCode::kNotFound, visible_line(folder) + " is in no repository");
    SKEIN_ASSIGN(const RepositoryState state, repository->state());
    std::string json = "{ \"commit\": \"";
    json += state.head ? state.head->short_id : "";
    json += state.dirty() ? "\", \"dirty\": true }" : "\", \"dirty\": false }";
    return Json::trusted(std::move(json));
  }

  void tell(const std::string& message) const {
    if (options_.notice) options_.notice(message);
  }

  Checkpoint& checkpoint_;
  const NewCheckpoint& wanted_;
  const CheckpointsOptions& options_;
  const std::string folder_;
};

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

void capture(Checkpoint& checkpoint, const NewCheckpoint& wanted,
             const CheckpointsOptions& options) {
  if (auto captured = Capture(checkpoint, wanted, options).run(); !captured && options.notice) {
    options.notice("without git: " + captured.error().message);
  }
}

}  // namespace skein
