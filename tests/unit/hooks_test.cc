#include "work/hooks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/json.h"
#include "skein/store.h"
#include "skein/work_sessions.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/manual_clock.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string as_json(std::string_view text) { return Json::string(text).text(); }

class HooksTest : public testing::Test {
 protected:
  HooksTest() { init_repository(workspace()); }

  HookEvent told(const std::string& tool, const std::string& input, const std::string& response,
                 const std::string& session = "s1") {
    return must(parse_hook_event(fmt::format(
        R"({{"session_id":{},"cwd":{},"tool_name":{},"tool_input":{},)"
        R"("tool_response":{}}})",
        as_json(session), as_json(workspace().string()), as_json(tool), input, response)));
  }
  std::optional<Checkpoint> after_bash(const std::string& command,
                                       const std::string& session = "s1") {
    return must(hooks_.post_tool_use(told("Bash", "{\"command\":" + as_json(command) + "}",
                                          R"({"stdout":"","interrupted":false})", session)));
  }
  std::optional<Checkpoint> after_write(const std::string& file,
                                        const std::string& session = "s1") {
    return must(hooks_.post_tool_use(
        told("Write", "{\"file_path\":" + as_json(file) + "}", R"({"type":"create"})", session)));
  }
  void begin(const std::string& session = "s1") {
    must(hooks_.session_start(told("", "{}", "{}", session)));
  }
  std::size_t count() { return must(checkpoints_.list({.limit = 1000})).size(); }
  const fs::path& workspace() const { return folder_.path(); }
  std::string in_workspace(const std::string& name) const { return (workspace() / name).string(); }

  TempDir folder_;
  ManualClock clock_;
  Checkpoints checkpoints_{{.workspace = folder_.path().string(), .clock = &clock_}};
  Hooks hooks_{checkpoints_};
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  WorkSessions working_{
      *store_, {.folder = folder_.path(), .project = "p", .host = "h"}, clock_, random_ids()};
};

TEST_F(HooksTest, ACommitMakesACheckpointThatNamesIt) {
  commit_file(workspace(), "a", "1", "before the session");
  begin();
  EXPECT_FALSE(after_bash("ls"));
  const std::string id = commit_file(workspace(), "src/mrr.ts", "1", "feat: add MRR calculation");
  const auto made = after_bash("git commit -m 'feat: add MRR calculation'");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->type, CheckpointType::kAuto);
  EXPECT_EQ(made->trigger, "git-commit");
  EXPECT_EQ(made->id, "T-20260123-143052-auto-feat-add-mrr-calculation");
  EXPECT_EQ(made->title, "Auto: feat: add MRR calculation");
  EXPECT_EQ(made->summary, "Committed " + id.substr(0, 7) + ": feat: add MRR calculation");
  EXPECT_EQ(made->git->current_commit, id.substr(0, 7));
  EXPECT_THAT(made->files_touched, ElementsAre("src/mrr.ts"));
  EXPECT_FALSE(after_bash("ls")) << "a commit is told once";
}

TEST_F(HooksTest, ACommitByAnyCommandIsFound) {
  begin();
  commit_file(workspace(), "a", "1", "by a script");
  ASSERT_TRUE(after_bash("make release"));
  git(workspace(), {"commit", "--quiet", "--amend", "-m", "amended"});
  const auto amended = after_bash("git ci --amend");
  ASSERT_TRUE(amended);
  EXPECT_THAT(amended->summary, HasSubstr("amended"));
}

TEST_F(HooksTest, SeveralCommitsOfOneCommandAreAllNamed) {
  begin();
  commit_file(workspace(), "a", "1", "first");
  commit_file(workspace(), "b", "1", "second");
  const auto made = after_bash("./two-commits");
  ASSERT_TRUE(made);
  EXPECT_THAT(made->summary, HasSubstr(": second; "));
  EXPECT_THAT(made->summary, HasSubstr(": first"));
  EXPECT_THAT(made->files_touched, ElementsAre("a", "b"));
}

TEST_F(HooksTest, ACommitInAnotherRepositoryIsFoundWhereTheCommandWent) {
  begin();
  const fs::path other = workspace() / "repos/my app";
  init_repository(other);
  commit_file(other, "x", "1", "over there");
  const auto made = after_bash("cd 'repos/my app' && git commit -m 'over there'");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cwd, "repos/my app");
  commit_file(other, "x", "2", "again");
  EXPECT_TRUE(after_bash("git -C repos/my\\ app commit -am again"));
}

TEST_F(HooksTest, ACommitInARepositoryOutsideOfTheWorkspaceIsTold) {
  const TempDir app;
  init_repository(app.path());
  commit_file(app.path(), "main.ts", "1", "first");
  git(app.path(), {"checkout", "--quiet", "-b", "feature/app"});
  const auto event = [&app](const std::string& tool, const std::string& input) {
    return must(parse_hook_event(
        fmt::format(R"({{"session_id":"s1","cwd":{},"tool_name":{},"tool_input":{},)"
                    R"("tool_response":{{"exit_code":0}}}})",
                    as_json(app.path().string()), as_json(tool), input)));
  };
  must(hooks_.session_start(event("", "{}")));
  const std::string id = commit_file(app.path(), "main.ts", "2", "second");
  const auto made =
      must(hooks_.post_tool_use(event("Bash", R"({"command":"git commit -m second"})")));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->git->branch, "feature/app");
  EXPECT_EQ(made->git->current_commit, id.substr(0, 7));
  EXPECT_EQ(made->cwd, fs::canonical(app.path()).string());
}

TEST_F(HooksTest, WhatIsCheckedOutWithoutBeingCommittedIsNoCommit) {
  git(workspace(),
      {"commit", "--quiet", "--allow-empty", "--date=2020-01-01T00:00:00Z", "-m", "a"});
  begin();
  // Committed before the session, by the clock of the commit.
  clock_.advance(24h * 365 * 10);
  begin();
  git(workspace(), {"checkout", "--quiet", "-b", "side"});
  git(workspace(), {"commit", "--quiet", "--allow-empty", "-m", "long ago"});
  EXPECT_FALSE(after_bash("git checkout side"));
}

TEST_F(HooksTest, ASessionThatBeganUnseenStillTellsItsCommit) {
  clock_.set_wall_by(std::chrono::milliseconds(system_clock().now().ms() - clock_.now().ms()));
  commit_file(workspace(), "a", "1", "just now");
  EXPECT_TRUE(after_bash("git commit -m 'just now'"));
}

TEST_F(HooksTest, FailedAndUnfinishedToolsAreIgnored) {
  begin();
  commit_file(workspace(), "a", "1", "x");
  const std::string commit = R"({"command":"git commit"})";
  for (const char* response :
       {R"({"is_error":true})", R"({"interrupted":true})", R"({"success":false})",
        R"({"error":"no"})", R"({"exit_code":1})", R"({"backgroundTaskId":"b1"})"}) {
    EXPECT_FALSE(must(hooks_.post_tool_use(told("Bash", commit, response)))) << response;
  }
  const std::string file = "{\"file_path\":" + as_json(in_workspace("b")) + "}";
  EXPECT_FALSE(must(hooks_.post_tool_use(told("Write", file, R"({"success":false})"))));
  EXPECT_FALSE(must(hooks_.post_tool_use(told("Write", file, R"({"staged":true})"))));
  EXPECT_FALSE(must(hooks_.post_tool_use(told("Agent", "{}", R"({"status":"async_launched"})"))));
  EXPECT_FALSE(
      must(hooks_.post_tool_use(told("Skill", R"({"skill":"x"})", R"({"success":true})"))));
  EXPECT_FALSE(must(hooks_.post_tool_use(told("Read", file, "{}"))));
  EXPECT_EQ(count(), 0u);
  EXPECT_TRUE(after_bash("true")) << "the commit is told by the next command that succeeds";
}

TEST_F(HooksTest, ANewFileMakesACheckpointAndAChangedOneDoesNot) {
  begin();
  const std::string input = "{\"file_path\":" + as_json(in_workspace("a.md")) + "}";
  EXPECT_FALSE(must(hooks_.post_tool_use(told("Edit", input, "{}"))));
  EXPECT_FALSE(must(hooks_.post_tool_use(told("Write", input, R"({"type":"update"})"))));
  const auto made = after_write(in_workspace("workspace/reports/mrr.md"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->trigger, "file-generation");
  EXPECT_EQ(made->title, "Auto: mrr.md");
  EXPECT_THAT(made->files_touched, ElementsAre("a.md", "workspace/reports/mrr.md"));
}

TEST_F(HooksTest, EditsAloneMakeNoCheckpointHoweverMany) {
  begin();
  const std::string input = "{\"file_path\":" + as_json(in_workspace("app.ts")) + "}";
  for (int i = 0; i < 25; ++i) {
    EXPECT_FALSE(must(hooks_.post_tool_use(told("Edit", input, R"({"exit_code":0})"))));
    clock_.advance(1min);
  }
  EXPECT_EQ(count(), 0u);
}

TEST_F(HooksTest, WhatSkeinItselfKeepsIsNoNewFile) {
  begin();
  EXPECT_FALSE(after_write(in_workspace("workspace/threads/T-1.json")));
  EXPECT_FALSE(after_write(in_workspace(".skein/x")));
  EXPECT_FALSE(after_write(in_workspace("a/../.gitmem/threads.json")));
}

TEST_F(HooksTest, AFinishedWorkerMakesACheckpoint) {
  begin();
  const auto made = must(
      hooks_.post_tool_use(told("Agent", R"({"subagent_type":"cfo","description":"MRR report"})",
                                R"({"status":"completed"})")));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->trigger, "worker-skill");
  EXPECT_EQ(made->summary, "Worker cfo finished: MRR report");
  clock_.advance(5min);
  EXPECT_TRUE(must(hooks_.post_tool_use(
      told("Skill", R"({"skill":"mrr"})", R"({"success":true,"status":"forked"})"))));
}

TEST_F(HooksTest, ThereIsOneInFiveMinutesExceptForCommits) {
  begin();
  EXPECT_TRUE(after_write(in_workspace("a")));
  clock_.advance(4min + 59s);
  EXPECT_FALSE(after_write(in_workspace("b")));
  commit_file(workspace(), "c", "1", "a commit");
  const auto commit = after_bash("git commit");
  ASSERT_TRUE(commit);
  EXPECT_THAT(commit->files_touched, ElementsAre("c", "b")) << "what waited is in it";
  clock_.advance(1min);
  EXPECT_FALSE(after_write(in_workspace("d"))) << "the commit's counts as well";
  clock_.advance(4min);
  const auto later = after_write(in_workspace("e"));
  ASSERT_TRUE(later);
  EXPECT_THAT(later->files_touched, ElementsAre("d", "e"));
}

TEST_F(HooksTest, FilesThatWaitGetTheirCheckpointAtTheEndOfATurn) {
  begin();
  EXPECT_TRUE(after_write(in_workspace("a")));
  EXPECT_FALSE(after_write(in_workspace("b")));
  const HookEvent event = told("", "{}", "{}");
  EXPECT_FALSE(must(hooks_.stop(event)));
  clock_.advance(5min);
  EXPECT_TRUE(must(hooks_.stop(event)));
  EXPECT_FALSE(must(hooks_.stop(event)));
  EXPECT_FALSE(must(hooks_.session_end(event)));
}

TEST_F(HooksTest, SessionsAreIndependent) {
  begin("s1");
  begin("s2");
  EXPECT_TRUE(after_write(in_workspace("a"), "s1"));
  EXPECT_TRUE(after_write(in_workspace("b"), "s2"));
  EXPECT_FALSE(after_write(in_workspace("c"), "s1"));
}

TEST_F(HooksTest, CallsAtOnceMakeOneCheckpointForEachSession) {
  {
    std::vector<std::jthread> calls;
    for (int i = 0; i < 16; ++i) {
      calls.emplace_back([this, i] {
        after_write(in_workspace("file" + std::to_string(i)), "s" + std::to_string(i % 4));
      });
    }
  }
  EXPECT_EQ(count(), 4u);
}

TEST_F(HooksTest, AHostileSessionIdStaysInItsFolder) {
  for (const std::string session : {"../../../escaped", "/tmp/escaped", "..", ".", "a/b", "lock",
                                    "a\nb", "\xC3\xA4", "x-0000000000000000"}) {
    begin(session);
    EXPECT_TRUE(after_write(in_workspace("of " + std::to_string(count())), session)) << session;
  }
  const std::string longest(10'000, 'x');
  EXPECT_TRUE(after_write(in_workspace("long"), longest));
  EXPECT_FALSE(after_write(in_workspace("long2"), longest)) << "it is remembered";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(workspace() / ".skein/hooks")) {
    EXPECT_TRUE(entry.is_regular_file()) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 11u);  // the sessions and the lock
  EXPECT_FALSE(fs::exists(workspace().parent_path() / "escaped.json"));
}

TEST_F(HooksTest, AFullCheckpointKnowsItsSessionAndReplacesAFreshAutomaticOne) {
  const std::string before = commit_file(workspace(), "a", "1", "before");
  begin();
  const std::string made = commit_file(workspace(), "b", "1", "in the session");
  const std::string automatic = after_bash("git commit")->id;
  clock_.advance(4min);
  NewCheckpoint wanted;
  wanted.slug = "full";
  const Checkpoint full = must(hooks_.checkpoint(wanted, working_, std::nullopt));
  EXPECT_EQ(full.git->initial_commit, before.substr(0, 7));
  EXPECT_THAT(*full.git->commits_made, ElementsAre(made.substr(0, 7) + ": in the session"));
  EXPECT_THAT(full.files_touched, ElementsAre("b"));
  EXPECT_TRUE(fails(checkpoints_.get(automatic), ErrorCode::kNotFound));
}

TEST_F(HooksTest, AFullCheckpointLeavesOlderOnesAndThoseOfOtherSessions) {
  begin("s1");
  EXPECT_TRUE(after_write(in_workspace("a"), "s1"));
  begin("s2");
  NewCheckpoint wanted;
  wanted.slug = "full";
  must(hooks_.checkpoint(wanted, working_, "s2"));
  EXPECT_EQ(count(), 2u);
  clock_.advance(5min);
  must(hooks_.checkpoint(wanted, working_, "s1"));
  EXPECT_EQ(count(), 3u);
}

TEST_F(HooksTest, ASessionThatEndedIsNotGoneOnWith) {
  begin();
  must(hooks_.session_end(told("", "{}", "{}")));
  clock_.advance(1min);
  commit_file(workspace(), "a", "1", "by a person");
  NewCheckpoint wanted;
  wanted.slug = "x";
  EXPECT_THAT(*must(hooks_.checkpoint(wanted, working_, std::nullopt)).git->commits_made,
              IsEmpty());
}

TEST_F(HooksTest, WhatIsNoEventIsRefusedInWords) {
  for (const std::string& text : {std::string(), std::string("nonsense"), std::string("[]"),
                                  std::string("{}"), std::string(R"({"session_id":7})"),
                                  std::string(R"({"session_id":""})"), std::string(1 << 20, '{')}) {
    EXPECT_TRUE(fails(parse_hook_event(text), ErrorCode::kInvalid)) << text.substr(0, 20);
  }
  const HookEvent odd = must(parse_hook_event(
      R"({"session_id":"s","tool_name":"Bash","tool_input":7,"tool_response":"text"})"));
  EXPECT_EQ(judge_tool(odd).deed, ToolDeed::kRanCommands);
}

TEST_F(HooksTest, ForgottenSessionsAreGone) {
  HookSessions sessions(workspace().string());
  begin("old");
  clock_.advance(24h);
  begin("new");
  EXPECT_EQ(must(sessions.forget_before(clock_.now())), 1u);
  EXPECT_FALSE(must(sessions.find("old")));
  EXPECT_TRUE(must(sessions.find("new")));
}

}  // namespace
}  // namespace skein::test
