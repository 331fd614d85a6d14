// Each tutorial, done by a reader who types what it says, in a home folder of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "page.h"
#include "protocol/claude_code.h"
#include "support/messages_api.h"

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
    expect_as_shown(steps_of_page("docs/tutorials/" + page), start_);
  }

  TempDir home_;
  Start start_;
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Only what the test itself is, and takes as long as, is left out.
TEST_F(Tutorials, OfTheReadmeWorksAsWritten) {
  const std::string readme = text_of(fs::path(SKEIN_SOURCE_DIR) / "README.md");
  EXPECT_EQ(readme.find("```sh"), std::string::npos) << "commands are in blocks of console";
  fs::create_directory_symlink(fs::path(SKEIN_PROGRAM).parent_path(),
                               home() / "skein/build/release");
  start_.folder = home() / "skein";
  auto steps = steps_of_page("README.md");
  EXPECT_EQ(std::erase_if(steps,
                          [](const PageStep& step) {
                            return step.command.starts_with("./run ") ||
                                   step.command.starts_with("./test ");
                          }),
            2U);
  expect_as_shown(steps, start_);
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

TEST_F(Tutorials, OfClaudeCodeWorksAsWritten) {
  // The model that answers on loopback: it looks for the tool, commits, notes, and knows.
  const MessagesApi api(R"([
    {"content": [{"type": "tool_use", "name": "ToolSearch", "input": {
      "query": "select:mcp__skein__create_thread", "max_results": 1}}]},
    {"content": ["I will greet.", {"type": "tool_use", "name": "Bash", "input": {
      "command": "echo Hello, world > hello.txt && git add hello.txt && git commit -q -m 'Greet the world'",
      "description": "Greet and commit"}}]},
    {"content": [{"type": "tool_use", "name": "mcp__skein__create_thread", "input": {
      "text": "Greet in other languages, too"}}]},
    {"content": ["The world is greeted; other languages are left to do."]},
    {"content": ["After the greeting in English."]}
  ])");
  fs::create_symlink(claude_program(), home() / "bin/claude");
  start_.own_network = false;  // the model is outside
  set("ANTHROPIC_BASE_URL", api.url());
  set("ANTHROPIC_API_KEY", "a-key-for-tests");
  set("ANTHROPIC_AUTH_TOKEN", "");
  set("CLAUDE_CONFIG_DIR", (home() / ".claude").string());
  set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
  set("DISABLE_AUTOUPDATER", "1");
  follow("claude-code.md");
  const auto requests = api.requests();
  EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), [](const std::string& request) {
    return request.find("Where did we stop?") != std::string::npos &&
           request.find("Greet in other languages, too") != std::string::npos;
  })) << "the second session was not told what is open";
}

}  // namespace
}  // namespace skein::test
