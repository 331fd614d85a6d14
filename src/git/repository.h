// What git knows about the folder one stands in.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/sealed_repository.h"
#include "skein/clock.h"
#include "skein/error.h"

namespace skein {

struct Commit {
  std::string id;        // in full
  std::string short_id;  // seven digits, or as many as tell it from others
  Timestamp committed_at;
  std::string subject;
};

struct RepositoryState {
  std::string branch;          // "HEAD" when detached; a branch without commits has a name, too
  std::optional<Commit> head;  // nothing: no commits yet
  std::string remote_url;      // of origin, without credentials; empty: there is none
  // Tracked files that differ from the last commit and untracked ones that are not ignored, with
  // their paths from the root, in submodules too. A folder is one entry, ending in "/", where it is
  // another repository or holds more new files than git can list.
  std::vector<std::string> changed_files;
  // Submodules for which there was no time, with their paths from the root. They may have changes.
  std::vector<std::string> not_examined;
  bool dirty() const { return !changed_files.empty(); }
};

// A sentence about the submodules that were not examined; empty: there are none.
std::string not_examined_text(const RepositoryState& state);

struct CommitQuery {
  std::string not_in = {};              // leave out this commit and all before it; empty: none
  std::optional<Timestamp> since = {};  // and those committed earlier than this
  std::size_t limit = 100;
};

// The repository that a folder is in: its work tree, a linked one, a submodule, or a bare
// repository. Asks git each time. Nothing in the repository gets executed: not its hooks, nor
// what its configuration names. Filters (`filter.*`) do not run either, whoever configured them: a
// file that a filter changes counts as changed once its time or size is not what the index has.
// Thread-safe.
class Repository {
 public:
  // Nothing: the folder is in no repository. kNotFound: no such folder, or no git. kInvalid: git
  // refuses the repository, in its words.
  static Result<std::optional<Repository>> find(const std::string& folder);

  // The top of the work tree, absolute; of a bare repository, the folder that was asked for.
  const std::string& root() const { return root_; }
  bool bare() const { return bare_; }
  // The folder that all work trees of the repository share.
  const std::string& common_folder() const { return sealed_.common_dir(); }

  // For all submodules together: a few small files can make any number of them.
  static constexpr std::chrono::milliseconds kSubmoduleTime{10'000};
  // `apart`: paths from the root which do not count as changes.
  Result<RepositoryState> state(const std::vector<std::string>& apart = {},
                                std::chrono::milliseconds submodule_time = kSubmoduleTime) const;

  // "HEAD" when detached.
  Result<std::string> branch() const;

  // The commit that a name such as "HEAD" or "def5678" stands for. Nothing: there is none.
  Result<std::optional<Commit>> commit(const std::string& name) const;

  // Those that HEAD consists of, newest first. kInvalid: `not_in` is no commit here.
  Result<std::vector<Commit>> commits(const CommitQuery& query) const;
  // How many commits of `to` are not in `from`.
  Result<std::size_t> count_commits(const std::string& from, const std::string& to) const;

  // The files that these commits changed, with their paths from the root, each once.
  Result<std::vector<std::string>> files_of(const std::vector<std::string>& commits) const;

  // Which of the files (paths from the root) are not, in the work tree, as they were in that
  // commit.
  Result<std::vector<std::string>> changed_since(const std::string& commit,
                                                 const std::vector<std::string>& files) const;

 private:
  Repository(SealedRepository sealed, std::string root, bool bare)
      : sealed_(std::move(sealed)), root_(std::move(root)), bare_(bare) {}

  using Deadline = std::chrono::steady_clock::time_point;
  Result<RepositoryState> state(const std::vector<std::string>& apart, std::size_t depth,
                                Deadline deadline) const;
  // Adds what changed inside submodules, down to `depth` levels, as far as the deadline allows.
  Result<void> add_submodules(std::size_t depth, Deadline deadline, RepositoryState& state) const;
  Result<std::vector<std::string>> changed_files(const std::vector<std::string>& apart,
                                                 const SealedRepository::Settings& settings) const;

  SealedRepository sealed_;
  std::string root_;
  bool bare_ = false;
};

// "https://user:password@host/x?token=…" becomes "https://host/x", and "ssh://git:password@host/x"
// "ssh://git@host/x". What is no URL with credentials stays as it is, "git@host:x" included.
std::string without_credentials(std::string_view url);

}  // namespace skein
