// `skein checkpoint` makes checkpoints, and its commands look through them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

std::size_t count(const Workspace& workspace) {
  return workspace.run({"checkpoint", "list", "--json"}).json().as_array().size();
}

TEST(CheckpointWords, ListShowAndSearchAreCommands) {
  const Workspace workspace;
  workspace.run({"checkpoint", "login", "--summary", "Fixed it", "--tag", "auth"});
  for (const char* group : {"checkpoint", "checkpoints"}) {
    EXPECT_THAT(workspace.run({group, "list"}).out, HasSubstr("  login\n"));
    EXPECT_THAT(workspace.run({group, "list", "--tag", "auth"}).out, HasSubstr("  login\n"));
    EXPECT_THAT(workspace.run({group, "search", "fixed"}).out, HasSubstr("  login\n"));
    EXPECT_THAT(workspace.run({group, "show", "login"}).out, HasSubstr("summary     Fixed it\n"));
  }
  EXPECT_EQ(count(workspace), 1u);
}

TEST(CheckpointWords, CanBeTitles) {
  const Workspace workspace;
  for (const std::string word : {"list", "show", "search"}) {
    const Ran made = workspace.run({"checkpoint", "--title", word, "--summary", word});
    EXPECT_EQ(made.code, 0) << made;
    EXPECT_THAT(made.out, MatchesRegex("T-[0-9]{8}-[0-9]{6}-" + word + "\n"));
  }
  EXPECT_EQ(count(workspace), 3u);
  EXPECT_THAT(workspace.run({"checkpoint", "--help"}).out, HasSubstr("--title list"));
}

TEST(CheckpointWords, RefuseWhatBelongsToAnotherCommand) {
  const Workspace workspace;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"checkpoint", "list", "login"},
                                             {"checkpoint", "show", "a", "b"},
                                             {"checkpoint", "list", "--summary", "x"},
                                             {"checkpoint", "login", "list"},
                                             {"checkpoint", "--title", "login", "list"}}) {
    const Ran refused = workspace.run(words);
    EXPECT_EQ(refused.code, 2) << refused;
    EXPECT_THAT(refused.err, HasSubstr("not expected")) << refused;
  }
  EXPECT_EQ(count(workspace), 0u);
}

TEST(CheckpointWords, SaySoWhenNothingIsFound) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run({"checkpoint", "list"}).out, "no checkpoints\n");
  workspace.run({"checkpoint", "login"});
  const Ran none = workspace.run({"checkpoint", "search", "nothing", "here"});
  EXPECT_EQ(none.code, 0) << none;
  EXPECT_EQ(none.out, "no checkpoint matches \"nothing here\"\n");
  EXPECT_EQ(workspace.run({"checkpoint", "search", "nothing", "--json"}).out, "[]\n");
}

TEST(CheckpointWords, UpdateRecordsWhereGitStands) {
  const Workspace workspace;
  init_repository(workspace.path());
  commit_file(workspace.path(), "a", "1", "before");
  workspace.run({"checkpoint", "work"});
  const std::string now = commit_file(workspace.path(), "b", "1", "feat: done");
  const auto json =
      workspace.run({"checkpoint", "--update", "work", "--file", "c", "--json"}).json();
  EXPECT_EQ(json.at("git").at("current_commit").as_string(), now.substr(0, 7));
  EXPECT_EQ(json.at("git").at("commits_made").as_array(),
            (boost::json::array{now.substr(0, 7) + ": feat: done"}));
  EXPECT_EQ(json.at("files_touched").as_array(), (boost::json::array{"c", "b"}));
}

TEST(CheckpointWords, ShowFieldsOfOlderCheckpoints) {
  const Workspace workspace;
  workspace.write("workspace/checkpoints/email-fix.json",
                  R"({"task_id":"email-fix","created_at":"2025-12-01T10:00:00Z","summary":"Fixed",)"
                  R"("notes":"kept","commit":"abc1234","build_passed":true,)"
                  R"("learnings":["retries hide errors"],"decisions":["keep IMAP"]})");
  const Ran shown = workspace.run({"checkpoint", "show", "email-fix"});
  EXPECT_EQ(shown.code, 0) << shown;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("notes       kept\n"), HasSubstr("build passed  true\n"),
                               HasSubstr("learnings\n  - retries hide errors\n"),
                               HasSubstr("decisions\n  - keep IMAP\n"), HasSubstr("abc1234")));
}

TEST(CheckpointWords, CleanupHistoryListsWhatWasPurgedWithoutAStore) {
  const Workspace workspace;
  workspace.write("workspace/threads/T-20200101-000000-auto-x.json",
                  R"({"thread_id":"T-20200101-000000-auto-x","type":"auto-checkpoint",)"
                  R"("created_at":"2020-01-01T00:00:00Z","metadata":{"title":"Auto: x"}})");
  EXPECT_EQ(workspace.run({"cleanup", "--history", "--json"}).out, "[]\n");
  EXPECT_EQ(workspace.run({"cleanup"}).code, 0);
  const Ran history = workspace.run({"cleanup", "--history"});
  EXPECT_EQ(history.code, 0) << history;
  EXPECT_THAT(history.out, AllOf(HasSubstr("checkpoint"), HasSubstr("T-20200101-000000-auto-x"),
                                 HasSubstr("14 days")));
  const auto json = workspace.run({"cleanup", "--history", "--json"}).json().as_array();
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].at("checkpointId").as_string(), "T-20200101-000000-auto-x");
  EXPECT_FALSE(std::filesystem::exists(workspace.path() / ".skein/skein.db"));
}

TEST(CheckpointWords, BehindALinkAreRefusedBeforeAnythingIsWritten) {
  const Workspace workspace;
  std::filesystem::create_directories(workspace.path() / "real");
  std::filesystem::create_directories(workspace.path() / "workspace");
  std::filesystem::create_directory_symlink("../real", workspace.path() / "workspace/threads");
  workspace.write("real/T-20200101-000000-auto-x.json",
                  R"({"thread_id":"T-20200101-000000-auto-x","type":"auto-checkpoint",)"
                  R"("created_at":"2020-01-01T00:00:00Z"})");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"checkpoint", "x"}, {"handoff", "x"}, {"checkpoint", "--update", "x"}, {"cleanup"}}) {
    const Ran refused = workspace.run(words);
    EXPECT_EQ(refused.code, 1) << refused;
    EXPECT_THAT(refused.err, HasSubstr("symbolic link")) << refused;
  }
  EXPECT_THAT(workspace.run({"checkpoint", "list"}).out, HasSubstr("auto-x"));
  EXPECT_FALSE(std::filesystem::exists(workspace.path() / ".skein/purged.jsonl"));
  EXPECT_EQ(workspace.run({"cleanup", "--history", "--json"}).out, "[]\n");
}

TEST(CheckpointWords, ItemsBehindALinkAreRefusedBeforeAnyIsWritten) {
  const Workspace workspace;
  std::filesystem::create_directories(workspace.path() / "real");
  std::filesystem::create_directory_symlink("real", workspace.path() / ".gitmem");
  const Ran refused = workspace.run({"item", "create", "Safari is untested"});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, HasSubstr("symbolic link"));
  EXPECT_TRUE(std::filesystem::is_empty(workspace.path() / "real"));
  EXPECT_THAT(workspace.run({"item", "list"}).out, HasSubstr("0 open"));
}

TEST(CheckpointWords, SessionsBehindALinkAreRefusedBeforeAnythingIsWritten) {
  const Workspace workspace;
  workspace.run({"session", "start", "--session", "before"});
  workspace.run({"item", "create", "Safari is untested"});
  const std::filesystem::path list = workspace.path() / ".gitmem";
  const auto expect_refused = [&] {
    const std::string bytes = workspace.read(".gitmem/threads.json");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"session", "start", "--session", "other"},
             {"session", "close", "--session", "before", "--open", "Edge is untested"}}) {
      const Ran refused = workspace.run(words);
      EXPECT_EQ(refused.code, 1) << refused;
      EXPECT_THAT(refused.err, HasSubstr("symbolic link")) << refused;
    }
    EXPECT_THAT(workspace.run({"session", "list"}).out,
                AllOf(HasSubstr("before"), HasSubstr("1 open\n")));
    EXPECT_EQ(workspace.read(".gitmem/threads.json"), bytes);
  };
  std::filesystem::rename(list, workspace.path() / "real");
  std::filesystem::create_directory_symlink("real", list);
  expect_refused();
  std::filesystem::remove(list);
  std::filesystem::rename(workspace.path() / "real", list);
  std::filesystem::rename(list / "threads.json", list / "real.json");
  std::filesystem::create_symlink("real.json", list / "threads.json");
  expect_refused();
  std::filesystem::rename(list / "real.json", list / "threads.json");
  EXPECT_THAT(workspace.run({"session", "close"}).out, HasSubstr("1 open"));
}

TEST(CheckpointWords, RefuseASlugOfAutomaticOnes) {
  const Workspace workspace;
  const Ran refused = workspace.run({"checkpoint", "auto-login"});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, HasSubstr("auto-"));
  EXPECT_EQ(count(workspace), 0u);
}

}  // namespace
}  // namespace skein::test
