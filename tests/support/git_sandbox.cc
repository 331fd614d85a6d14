#include "support/git_sandbox.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/subprocess.h"

namespace skein::test {

std::string git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  Spawn spawn{.argv = {"git", "-c", "protocol.file.allow=always"},
              .folder = folder.string(),
              .environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                              {"GIT_CONFIG_NOSYSTEM", "1"},
                              {"GIT_AUTHOR_NAME", "A Tester"},
                              {"GIT_AUTHOR_EMAIL", "tester@example.org"},
                              {"GIT_COMMITTER_NAME", "A Tester"},
                              {"GIT_COMMITTER_EMAIL", "tester@example.org"}}};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  auto done = run_program(spawn, {}, {});
  if (!done || !done->exit.ok()) {
    std::cerr << "git " << (arguments.empty() ? "" : arguments[0]) << " in " << folder << ": "
              << (done ? done->err : done.error().message) << "\n";
    std::abort();
  }
  if (done->out.ends_with('\n')) done->out.pop_back();
  return done->out;
}

void put_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::string get_file(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(content).str();
}

void init_repository(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  git(folder, {"init", "--quiet", "--initial-branch=main"});
}

std::string commit_file(const std::filesystem::path& folder, const std::string& name,
                        std::string_view content, const std::string& message) {
  put_file(folder / name, content);
  git(folder, {"add", "--", name});
  git(folder, {"commit", "--quiet", "-m", message});
  return git(folder, {"rev-parse", "HEAD"});
}

}  // namespace skein::test
