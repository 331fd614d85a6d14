// The real Claude Code calls our hooks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "claude_code.h"
#include "skein/checkpoints.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/messages_api.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class ClaudeCodeHooks : public testing::Test {
 protected:
  ClaudeCodeHooks() {
    commit_file(workspace(), "README.md", "hello", "first");
    const Finished installed = skein({"hook", "install", "--yes"});
    EXPECT_TRUE(installed.exit.ok()) << installed.err;
  }

  Finished skein(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SKEIN_PROGRAM);
    return must(run_program({.argv = arguments, .folder = workspace().string()}, {}, {}));
  }
  Finished claude(const MessagesApi& api) const {
    return run_claude(workspace(), home_.path(), api.url(), "Please do your work.");
  }
  const std::filesystem::path& workspace() const { return sandbox_.path(); }

  GitSandbox sandbox_;
  TempDir home_;
};

TEST_F(ClaudeCodeHooks, ACommitInASessionMakesAnAutomaticCheckpointThatNamesIt) {
  const MessagesApi api(R"([
    {"content": ["I will commit.", {"type": "tool_use", "name": "Bash", "input": {
      "command": "echo hi > hello.txt && git add hello.txt && git commit -q -m 'feat: say hello'",
      "description": "Commit a greeting"}}]},
    {"content": ["Committed."]}
  ])");
  const Finished ran = claude(api);
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  const auto result = boost::json::parse(ran.out);
  EXPECT_EQ(result.at("result").as_string(), "Committed.") << ran.out;

  const std::string id = git(workspace(), {"rev-parse", "HEAD"});
  EXPECT_EQ(git(workspace(), {"log", "-1", "--format=%s"}), "feat: say hello");
  Checkpoints checkpoints({.workspace = workspace().string()});
  const auto made = must(checkpoints.list({}));
  ASSERT_THAT(made, SizeIs(1)) << get_file(workspace() / ".skein/hook.log");
  const Checkpoint checkpoint = must(checkpoints.get(made[0].id));
  EXPECT_EQ(checkpoint.type, CheckpointType::kAuto);
  EXPECT_EQ(checkpoint.trigger, "git-commit");
  EXPECT_EQ(checkpoint.summary, "Committed " + id.substr(0, 7) + ": feat: say hello");
  EXPECT_THAT(checkpoint.files_touched, ElementsAre("hello.txt"));
  EXPECT_EQ(get_file(workspace() / ".skein/hook.log"), "");
}

TEST_F(ClaudeCodeHooks, AFullCheckpointMadeInASessionKnowsItAndReplacesTheAutomaticOne) {
  const MessagesApi api(R"([
    {"content": [{"type": "tool_use", "name": "Bash", "input": {
      "command": "git commit -q --allow-empty -m 'feat: one'", "description": "Commit"}}]},
    {"content": [{"type": "tool_use", "name": "Bash", "input": {
      "command": ")" SKEIN_PROGRAM R"( checkpoint full", "description": "Checkpoint"}}]},
    {"content": ["Done."]}
  ])");
  const Finished ran = claude(api);
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  Checkpoints checkpoints({.workspace = workspace().string()});
  const auto made = must(checkpoints.list({}));
  ASSERT_THAT(made, SizeIs(1)) << ran.out;
  const Checkpoint full = must(checkpoints.get(made[0].id));
  EXPECT_EQ(full.type, CheckpointType::kCheckpoint);
  EXPECT_THAT(*full.git->commits_made, ElementsAre(HasSubstr(": feat: one")));
}

TEST_F(ClaudeCodeHooks, ANewSessionIsToldWhereTheLastOneStood) {
  ASSERT_TRUE(
      skein({"handoff", "login", "--summary", "Login works", "--next-step", "Test it on Safari"})
          .exit.ok());
  const MessagesApi api(R"([{"content": ["I know."]}])");
  const Finished ran = claude(api);
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  const auto requests = api.requests();
  EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), [](const std::string& request) {
    return request.find("Test it on Safari") != std::string::npos;
  }));
}

}  // namespace
}  // namespace skein::test
