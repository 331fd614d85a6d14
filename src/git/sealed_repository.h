// A repository that git reads without the repository's own configuration.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/subprocess.h"
#include "skein/error.h"

namespace skein {

// Git can be configured to run programs in many places: filters, hooks, monitors, drivers, remote
// helpers. A repository brings its configuration along, so a list of settings to override would
// always miss some. SealedRepository instead gives git a private GIT_DIR for each command. It holds
// a copy of HEAD, links to refs and objects, and a configuration of its own. Neither the
// repository's configuration nor the user's is read by those commands.
//
// A value; thread-safe.
class SealedRepository {
 public:
  // What is taken over from the configuration of repository and user.
  struct Settings {
    std::string remote_url;  // of origin; empty: there is none
    std::string config;      // how files are compared and what is ignored, as git reads it
  };

  // Finds the repository as git does, including its check of the owner (safe.directory). A bare
  // repository inside the work tree of another is a folder of that work tree, and `core.worktree`
  // does not count: the work tree is the folder that holds `.git`. Nothing: the folder is in no
  // repository. kInvalid: git refuses the repository.
  static Result<std::optional<SealedRepository>> find(const std::string& folder);

  // The top of the work tree with links resolved; empty for a bare repository.
  const std::string& work_tree() const { return work_tree_; }
  // The folder of refs and objects, which all work trees share.
  const std::string& common_dir() const { return common_dir_; }
  Result<Settings> settings() const;

  struct Options {
    std::string_view input{};   // for its standard input
    std::string_view config{};  // Settings::config, for commands that look at the work tree
  };
  // Runs git in the work tree, or in the repository if that is bare.
  Result<Finished> run(std::vector<std::string> arguments) const { return run(arguments, {}); }
  Result<Finished> run(std::vector<std::string> arguments, const Options& options) const;
  // The same for a command that must succeed: its output, or kInvalid with git's message.
  Result<std::string> output(std::vector<std::string> arguments) const {
    return output(arguments, {});
  }
  Result<std::string> output(std::vector<std::string> arguments, const Options& options) const;

 private:
  SealedRepository() = default;
  const std::string& folder() const { return work_tree_.empty() ? git_dir_ : work_tree_; }

  std::string git_dir_;     // of this work tree: HEAD, index
  std::string common_dir_;  // of all work trees: refs, objects
  std::string work_tree_;
  std::string object_format_;
};

}  // namespace skein
