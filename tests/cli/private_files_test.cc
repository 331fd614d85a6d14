// What a tour of the commands leaves on disk: private, and nothing of it for git.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <sstream>

#include "program.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

unsigned mode_of(const fs::path& path) {
  struct stat st{};
  EXPECT_EQ(::lstat(path.c_str(), &st), 0) << path;
  return st.st_mode & 0777U;
}

std::set<fs::path> everything_in(const fs::path& folder) {
  std::set<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().find("/.git/") == std::string::npos) all.insert(entry.path());
  }
  return all;
}

// What git made in a repository, with the folders that it is in.
std::set<fs::path> checked_out(const fs::path& repository) {
  std::set<fs::path> made = {repository / ".git"};
  std::istringstream lines(git(repository, {"ls-files"}));
  for (std::string line; std::getline(lines, line);) {
    for (fs::path path = repository / line; path != repository; path = path.parent_path()) {
      made.insert(path);
    }
  }
  return made;
}

// In this order; each must end well. $other is a store besides, $out a folder for exports.
constexpr const char* kTour = R"sh(
set -euo pipefail
skein config set embedder none
skein init
skein agent add helper --engine echo
skein hook install --yes
skein mcp install claude-code --yes
skein mcp install cursor --yes
skein mcp install codex --yes
thread=$(skein thread create --title Tour)
skein thread append $thread --role user --text "What did we decide about retries?"
echo "Three attempts." | skein thread append $thread --role assistant
fork=$(skein thread fork $thread --at 1)
skein thread update $thread --title "Another title"
skein thread pin $thread 1
skein thread unpin $thread 1
skein thread pause $thread
skein thread resume $thread
skein thread close $thread
skein thread archive $thread
skein thread restore $thread
skein thread list
skein thread show $thread
skein thread events $thread
skein thread messages $thread
skein thread context $thread
skein run echo "Hello there"
skein runs list
skein usage
skein search retries --all-agents --embedder none
skein backfill --embedder none
skein session start
skein item create "Left to do"
skein item list
skein item resolve --text-match "Left to do"
skein session close --summary Done
skein checkpoint tour --summary "A tour"
skein handoff rest --summary "The rest"
skein checkpoints list
skein checkpoints search tour
skein resume tour
echo "{\"session_id\":\"s1\",\"cwd\":\"$PWD\",\"hook_event_name\":\"SessionStart\"}" | skein hook session-start
git commit --quiet --allow-empty --message Commit
echo "{\"session_id\":\"s1\",\"cwd\":\"$PWD\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git commit -m Commit\"},\"tool_response\":{}}" | skein hook post-tool-use
echo "{\"session_id\":\"s1\",\"hook_event_name\":\"Stop\"}" | skein hook stop
echo "{\"session_id\":\"s1\",\"hook_event_name\":\"SessionEnd\"}" | skein hook session-end
echo "no JSON" | skein hook stop
skein task create echo "Later" --later
skein task list
skein trigger add echo "0 9 * * *" "Every day" --name daily
skein trigger list
skein key create --access admin --name tour
skein key list
skein export --all --output $out/all.jsonl
skein export $thread --format markdown --output $out/one.md
skein import $out/all.jsonl
skein migrate --from "$SKEIN_STORE_URL" --to $other
skein cleanup
skein redact < /dev/null
skein thread delete $fork --yes
skein doctor --setup
skein doctor
env -u SKEIN_STORE skein demo $out/demo
echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | skein mcp
skein serve --port 0 > $out/serve.log 2>&1 &
until grep --quiet Stop $out/serve.log; do kill -0 $!; done
kill $!; wait $! || true
)sh";

class Tour : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  Tour() {
    fs::create_directories(out());
    fs::create_directories(repository());
    init_repository(repository());
    commit_file(repository(), "README", "A project", "Begin");
  }

  fs::path home() const { return folder_.path() / "home"; }
  fs::path repository() const { return home() / "project"; }
  fs::path out() const { return home() / "out"; }

  std::string store() const {
    return std::get<0>(GetParam()) == "jsonl"
               ? "jsonl:" + (repository() / "workspace/agents").string()
               : "sqlite:" + (repository() / ".skein/skein.db").string();
  }
  std::string other_store() const {
    return std::get<0>(GetParam()) == "jsonl" ? "jsonl:" + (repository() / "copy").string()
                                              : "sqlite:" + (repository() / "copy/x.db").string();
  }

  Ran take() const {
    Start start{.folder = repository(), .arguments = {}};
    start.program = "/bin/bash";
    start.own_network = true;
    start.arguments = {"-c", "umask " + std::get<1>(GetParam()) + "\n" + kTour};
    start.environment = {"HOME=" + home().string(),    "PATH=" + path_with_skein(),
                         "out=" + out().string(),      "other=" + other_store(),
                         "SKEIN_STORE_URL=" + store(), "CODEX_HOME=" + (home() / "codex").string(),
                         "GIT_AUTHOR_NAME=A",          "GIT_AUTHOR_EMAIL=a@example.org",
                         "GIT_COMMITTER_NAME=A",       "GIT_COMMITTER_EMAIL=a@example.org"};
    if (std::get<0>(GetParam()) == "jsonl") start.environment.push_back("SKEIN_STORE=" + store());
    return Running(start).finish();
  }

  TempDir folder_;
};

TEST_P(Tour, LeavesPrivateFilesAndNothingForGit) {
  const std::set<fs::path> before = everything_in(home());
  const Ran ran = take();
  ASSERT_EQ(ran.code, 0) << ran;
  const std::set<fs::path> by_git = checked_out(out() / "demo");
  std::size_t looked_at = 0;
  for (const fs::path& path : everything_in(home())) {
    if (before.contains(path) || by_git.contains(path) || path == out() / "serve.log") continue;
    ++looked_at;
    EXPECT_EQ(mode_of(path), fs::is_directory(path) ? 0700U : 0600U) << path;
  }
  EXPECT_GT(looked_at, 60U);

  std::vector<std::string> added;
  std::istringstream lines(git(repository(), {"add", "--all", "--dry-run"}));
  for (std::string line; std::getline(lines, line);) {
    const bool checkpoint = line.starts_with("add 'workspace/threads/") &&
                            (line.ends_with(".json'") || line.ends_with(".md'"));
    if (!checkpoint) added.push_back(line);
  }
  EXPECT_THAT(added, testing::UnorderedElementsAre(
                         "add '.claude/settings.json'", "add '.cursor/mcp.json'", "add '.mcp.json'",
                         "add '.gitmem/.gitignore'", "add '.gitmem/threads.json'",
                         "add '.skein/.gitignore'", "add '.skein/config.json'",
                         "add 'agents/helper/agent.json'"));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Tour,
                         testing::Combine(testing::Values("sqlite", "jsonl"),
                                          testing::Values("000", "022", "077")),
                         [](const auto& tour) {
                           return std::get<0>(tour.param) + std::get<1>(tour.param);
                         });

// Programs that Skein starts work on the user's files, with the user's umask.
TEST(PrivateFiles, ProgramsThatSkeinStartsHaveTheUsersUmask) {
  const Workspace workspace;
  const Ran ran = workspace.shell("umask 027; skein demo demo");
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(mode_of(workspace.path() / "demo/.git/HEAD"), 0640U);
  EXPECT_EQ(mode_of(workspace.path() / "demo/.skein"), 0700U);
}

TEST(PrivateFiles, AnExportThatReplacesAFileKeepsItsMode) {
  const Workspace workspace;
  const std::string thread = workspace.create();
  workspace.write("shared.md", "");
  fs::permissions(workspace.path() / "shared.md", fs::perms(0644));
  const Ran ran =
      workspace.run({"export", thread, "--format", "markdown", "--output", "shared.md"});
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(mode_of(workspace.path() / "shared.md"), 0644U);
}

// As an earlier version left it.
class OpenToOthers : public testing::Test {
 protected:
  OpenToOthers() {
    workspace_.create();
    fs::permissions(own(), fs::perms(0755));
    for (const auto& entry : fs::directory_iterator(own())) {
      fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0755 : 0644));
    }
  }
  fs::path own() const { return workspace_.path() / ".skein"; }

  Workspace workspace_;
};

TEST_F(OpenToOthers, IsWarnedAboutInOneLineThatNamesTheRepair) {
  const Ran ran = workspace_.run({"thread", "list", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(own().string()), HasSubstr("0755"),
                             HasSubstr("skein doctor --repair")));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  EXPECT_THAT(ran.out, Not(HasSubstr("doctor")));
}

TEST_F(OpenToOthers, IsReportedByTheDoctorAndRepaired) {
  EXPECT_THAT(
      workspace_.run({"doctor", "--setup"}).out,
      HasSubstr("private    off      other users of this machine can read " + own().string()));
  const Ran repaired = workspace_.run({"doctor", "--repair"});
  EXPECT_THAT(repaired.out, AllOf(HasSubstr("private    fine"), HasSubstr("repaired   made ")));
  for (const fs::path& path : everything_in(workspace_.path())) {
    EXPECT_EQ(mode_of(path) & 077U, 0U) << path;
  }
  EXPECT_THAT(workspace_.run({"thread", "list"}).err, IsEmpty());
}

TEST_F(OpenToOthers, IsAProblemWhereOthersCanWrite) {
  fs::permissions(own(), fs::perms(0777));
  const Ran ran = workspace_.run({"doctor", "--setup"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("private    problem  other users of this machine can change " +
                                 own().string()));
  EXPECT_THAT(workspace_.run({"thread", "list"}).err, HasSubstr("can change"));
}

}  // namespace
}  // namespace skein::test
