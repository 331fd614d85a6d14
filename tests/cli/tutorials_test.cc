// Each tutorial, done by a reader who types what it says, in a home folder of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "page.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;

class Tutorials : public testing::Test {
 protected:
  Tutorials() {
    fs::create_directories(home() / "bin");
    // Where tutorials expect Skein's source and a build of it.
    fs::create_directories(home() / "skein/build");
    fs::create_directory_symlink(fs::path(SKEIN_PROGRAM).parent_path(),
                                 home() / "skein/build/library");
    for (const char* folder : {"examples", "docs", "tools"}) {
      fs::create_directory_symlink(fs::path(SKEIN_SOURCE_DIR) / folder, home() / "skein" / folder);
    }
    start_.folder = home();
    start_.program = "/bin/bash";
    start_.own_network = true;
    set("HOME", home().string());
    set("PATH", (home() / "bin").string() + ":" + path_with_skein());
    set("LANG", "C.UTF-8");
    for (const char* variable : {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"})
      set(variable, "A Reader");
    for (const char* variable : {"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"}) {
      set(variable, "reader@example.org");
    }
  }

  const fs::path& home() const { return home_.path(); }
  void set(const std::string& variable, const std::string& value) {
    start_.environment.push_back(variable + "=" + value);
  }
  void follow(const std::string& page) {
    expect_as_shown(steps_of_page("tutorials/" + page), start_);
  }

  TempDir home_;
  Start start_;
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(Tutorials, OfCppWorksAsWrittenAndShowsTheExample) {
  // A library with sanitizers wants programs with sanitizers.
  set("CXX", SKEIN_COMPILER);
  if (*SKEIN_SANITIZE != '\0') set("CXXFLAGS", "-fsanitize=" SKEIN_SANITIZE);
  set("LDFLAGS", "-fuse-ld=lld");
  set("CMAKE_INSTALL_MODE", "ABS_SYMLINK");  // copies would be large
  follow("cpp.md");
  for (const char* file : {"notes.cc", "CMakeLists.txt"}) {
    EXPECT_EQ(text_of(home() / "notes" / file),
              text_of(fs::path(SKEIN_SOURCE_DIR) / "examples/notes" / file));
  }
}

TEST_F(Tutorials, OfOperatorsWorksAsWritten) { follow("operator.md"); }

TEST_F(Tutorials, OfLangGraphWorksAsWritten) {
  fs::create_symlink(SKEIN_NODE, home() / "bin/node");
  // What npm would install.
  fs::create_directory_symlink(fs::path(SKEIN_SOURCE_DIR) / "tests/protocol/langgraph/node_modules",
                               home() / "node_modules");
  follow("langgraph.md");
}

}  // namespace
}  // namespace skein::test
