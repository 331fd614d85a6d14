#include "work/session_repository.h"

#include "core/try.h"
#include "git/command.h"
#include "git/repository.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCommits = 20;

// Saves starting git where it would only say no.
bool may_be_in_repository(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return true;
    if (at == at.parent_path()) return false;
  }
}

Result<std::optional<Repository>> find_repository(const fs::path& folder) {
  if (!may_be_in_repository(folder)) return std::nullopt;
  return Repository::find(folder.string());
}

Result<std::vector<Commit>> commits_since(const Repository& repository, const WorkSession& last) {
  CommitQuery query;
  query.limit = kMostCommits + 1;
  if (!last.head.empty()) {
    SKEIN_ASSIGN(const auto known, repository.commit(last.head));
    if (known) query.not_in = known->id;
  }
  // The last session may have been elsewhere, with commits that are not here.
  if (query.not_in.empty()) query.since = last.closed_at;
  return repository.commits(query);
}

// What is kept there is no change of somebody's work.
std::vector<std::string> own_folders(const Repository& repository, const fs::path& folder) {
  const fs::path place = folder.lexically_relative(repository.root());
  std::vector<std::string> own;
  for (const char* name : {".gitmem", ".skein"}) {
    own.push_back((place / name).lexically_normal().string());
  }
  return own;
}

Result<std::optional<RepositoryNews>> read_news(const fs::path& folder, const WorkSession* last,
                                                std::vector<std::string>& warnings) {
  SKEIN_ASSIGN(const auto repository, find_repository(folder));
  if (!repository) return std::nullopt;
  SKEIN_ASSIGN(const RepositoryState state, repository->state(own_folders(*repository, folder)));
  RepositoryNews news;
  news.branch = state.branch;
  news.changed_files = state.changed_files.size();
  if (std::string text = not_examined_text(state); !text.empty())
    warnings.push_back(std::move(text));
  if (!state.head) return news;
  news.head = state.head->id;
  if (last == nullptr) return news;
  SKEIN_ASSIGN(auto commits, commits_since(*repository, *last));
  news.more_commits = commits.size() > kMostCommits;
  if (news.more_commits) commits.resize(kMostCommits);
  for (Commit& commit : commits) {
    news.commits.push_back({std::move(commit.short_id), std::move(commit.subject)});
  }
  return news;
}

}  // namespace

std::string head_commit(const fs::path& folder) {
  const auto repository = find_repository(folder);
  if (!repository || !*repository) return {};
  const auto head = (*repository)->commit("HEAD");
  return head && *head ? (*head)->id : "";
}

std::string origin_url(const fs::path& folder) {
  if (!may_be_in_repository(folder)) return {};
  return git_output(folder.string(), {"config", "--no-includes", "--get", "remote.origin.url"})
      .value_or("");
}

std::optional<RepositoryNews> repository_news(const fs::path& folder, const WorkSession* last,
                                              std::vector<std::string>& warnings) {
  auto news = read_news(folder, last, warnings);
  if (news) return *std::move(news);
  warnings.push_back("git does not tell what changed: " + news.error().message);
  return std::nullopt;
}

}  // namespace skein
