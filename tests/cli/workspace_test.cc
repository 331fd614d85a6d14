// Which folder commands, hooks and installers work for, and how one is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "program.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class HomeFolder : public testing::Test {
 protected:
  HomeFolder() { fs::create_directories(project()); }

  const fs::path& home() const { return folder_.path(); }
  fs::path project() const { return home() / "project"; }
  Ran run_in(const fs::path& folder, std::vector<std::string> arguments,
             std::vector<std::string> environment = {}, std::string_view input = {}) const {
    environment.push_back("HOME=" + home().string());
    return Running(Start{.folder = folder,
                         .arguments = std::move(arguments),
                         .environment = std::move(environment)})
        .finish(input);
  }

  TempDir folder_;
};

TEST_F(HomeFolder, MarksInItDoNotMakeInstallersWriteTheUsersOwnSettings) {
  for (const char* mark : {".gitmem", "workspace", ".skein", "workspace/threads"}) {
    fs::create_directories(home() / mark);
  }
  const Ran ran = run_in(project(), {"hook", "install", "--yes"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_FALSE(fs::exists(home() / ".claude"));
  const std::string file = (project() / ".claude/settings.json").string();
  EXPECT_TRUE(fs::exists(file));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("changes " + file), HasSubstr("written to " + file)));
  const Ran again = run_in(project(), {"hook", "install", "--yes"});
  EXPECT_THAT(again.out, HasSubstr(file));
}

TEST_F(HomeFolder, IsNoWorkspaceUnlessNamed) {
  const Ran refused = run_in(home(), {"thread", "create"});
  EXPECT_EQ(refused.code, 2) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr(home().string()), HasSubstr("--workspace")));
  EXPECT_FALSE(fs::exists(home() / ".skein"));
  const Ran named = run_in(home(), {"--workspace", ".", "thread", "create"});
  EXPECT_EQ(named.code, 0) << named;
  EXPECT_TRUE(fs::exists(home() / ".skein/skein.db"));
}

TEST_F(HomeFolder, TheFirstWriteNamesTheChosenWorkspaceOnStandardError) {
  init_repository(project());
  fs::create_directories(project() / "src");
  const Ran looked = run_in(project() / "src", {"thread", "list"});
  EXPECT_THAT(looked.err, Not(HasSubstr("new workspace")));
  const Ran first = run_in(project() / "src", {"thread", "create"});
  EXPECT_EQ(first.err, "skein: new workspace " + project().string() +
                           " (--workspace or SKEIN_WORKSPACE names another)\n");
  EXPECT_THAT(first.out, Not(HasSubstr("workspace")));
  EXPECT_THAT(run_in(project() / "src", {"thread", "create"}).err, IsEmpty());
  const Ran named = run_in(home(), {"--workspace", home().string(), "item", "create", "x"});
  EXPECT_THAT(named.err, Not(HasSubstr("new workspace")));
}

TEST_F(HomeFolder, InitMakesAWorkspaceAndSaysWhatIsNext) {
  init_repository(project());
  fs::create_directories(project() / "src");
  const Ran made = run_in(project() / "src", {"init"});
  EXPECT_EQ(made.code, 0) << made;
  EXPECT_THAT(made.out, AllOf(HasSubstr("workspace  " + project().string() + "\n"),
                              HasSubstr("made       .skein/, .skein/.gitignore\n"),
                              HasSubstr("skein hook install")));
  EXPECT_THAT(made.err, IsEmpty());
  EXPECT_EQ(get_file(project() / ".skein/.gitignore"), "*\n!.gitignore\n!config.json\n");
  const Ran again = run_in(project() / "src", {"init", "--json"});
  EXPECT_EQ(again.json().at("workspace").as_string(), project().string());
  EXPECT_TRUE(again.json().at("made").as_array().empty());
}

TEST_F(HomeFolder, InitMakesTheFolderThatIsNamed) {
  const Ran made = run_in(home(), {"init", "new/inner", "--json"});
  EXPECT_EQ(made.json().at("workspace").as_string(), (home() / "new/inner").string());
  EXPECT_TRUE(fs::exists(home() / "new/inner/.skein/.gitignore"));
  struct stat st{};
  ASSERT_EQ(::stat((home() / "new/inner/.skein").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777U, 0700U);
}

TEST_F(HomeFolder, InitSaysWhenCommandsThereUseAnother) {
  EXPECT_THAT(run_in(home(), {"init", "."}).out, HasSubstr("note       commands use it only with"));
  init_repository(project());
  commit_file(project(), "a", "1", "Begin");
  git(project(), {"worktree", "add", "--quiet", (home() / "linked").string()});
  EXPECT_THAT(run_in(home() / "linked", {"init", "."}).out,
              HasSubstr("commands run there use " + project().string()));
}

TEST_F(HomeFolder, HooksTakeTheirFolderAsTheStartingPoint) {
  init_repository(project());
  commit_file(project(), "a", "1", "Begin");
  const fs::path linked = home() / "linked";
  git(project(), {"worktree", "add", "--quiet", linked.string()});
  const std::string event =
      R"({"session_id":"s1","hook_event_name":"SessionStart","cwd":")" + linked.string() + R"("})";
  const std::vector<std::string> agent = {"CLAUDE_PROJECT_DIR=" + linked.string()};
  const Ran now =
      run_in(linked, {"--start-dir", linked.string(), "hook", "session-start"}, agent, event);
  EXPECT_EQ(now.code, 0) << now;
  EXPECT_TRUE(fs::exists(project() / ".skein/hooks/s1.json"));
  EXPECT_FALSE(fs::exists(linked / ".skein"));
  fs::remove_all(project() / ".skein");
  // As an earlier version installed them.
  const Ran before =
      run_in(linked, {"--workspace", linked.string(), "hook", "session-start"}, agent, event);
  EXPECT_EQ(before.code, 0) << before;
  EXPECT_TRUE(fs::exists(project() / ".skein/hooks/s1.json"));
  EXPECT_FALSE(fs::exists(linked / ".skein"));
}

TEST_F(HomeFolder, SessionsInALinkedWorktreeNoteItsBranch) {
  init_repository(project());
  commit_file(project(), "a", "1", "Begin");
  const fs::path linked = home() / "linked";
  git(project(), {"worktree", "add", "--quiet", "-b", "feature", linked.string()});
  const std::string head = commit_file(linked, "b", "2", "Further");
  const Ran started = run_in(linked, {"session", "start", "--json"});
  EXPECT_EQ(started.code, 0) << started;
  EXPECT_THAT(started.out, AllOf(HasSubstr("feature"), HasSubstr(head)));
  EXPECT_FALSE(fs::exists(linked / ".skein"));
}

TEST_F(HomeFolder, HooksInItDoNothingAndSaySo) {
  const Ran ran = run_in(home(), {"--start-dir", home().string(), "hook", "stop"}, {},
                         R"({"session_id":"s1","hook_event_name":"Stop"})");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("home folder"));
  EXPECT_FALSE(fs::exists(home() / ".skein"));
}

TEST_F(HomeFolder, AFolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  fs::create_directories(project() / ".skein");
  ASSERT_EQ(::chown((project() / ".skein").c_str(), 54'321, 54'321), 0);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"thread", "list"}, {"--workspace", ".", "thread", "create"}, {"init"}}) {
    const Ran ran = run_in(project(), arguments);
    EXPECT_NE(ran.code, 0);
    EXPECT_THAT(ran.err, AllOf(HasSubstr((project() / ".skein").string()), HasSubstr("54321"),
                               HasSubstr("skein trust --system")));
  }
}

}  // namespace
}  // namespace skein::test
