// Git repositories of one test's own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_dir.h"

namespace skein::test {

// Runs git in the folder, with an identity and none of the machine's configuration; its output
// without the last line end. A failure ends the test program.
std::string git(const std::filesystem::path& folder, std::vector<std::string> arguments);

// Writes a file, with the folders above it.
void put_file(const std::filesystem::path& path, std::string_view content);
std::string get_file(const std::filesystem::path& path);

// Makes the folder a repository on branch "main".
void init_repository(const std::filesystem::path& folder);
// Commits a file with this content; the commit's full id.
std::string commit_file(const std::filesystem::path& folder, const std::string& name,
                        std::string_view content, const std::string& message);

// A folder with an empty repository in it.
class GitSandbox {
 public:
  GitSandbox() { init_repository(path()); }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::string run(std::vector<std::string> arguments) const {
    return git(path(), std::move(arguments));
  }
  std::string commit(const std::string& name, std::string_view content,
                     const std::string& message) const {
    return commit_file(path(), name, content, message);
  }

 private:
  TempDir folder_;
};

}  // namespace skein::test
