// Which folder is the workspace, for people who stand anywhere in their home folder.
#include "api/workspace_detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/file.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;

class WorkspaceDetection : public testing::Test {
 protected:
  WorkspaceDetection() {
    if (const char* home = std::getenv("HOME")) before_ = home;
    fs::create_directories(home());
    ::setenv("HOME", home().c_str(), 1);
  }
  ~WorkspaceDetection() override { ::setenv("HOME", before_.c_str(), 1); }

  fs::path home() const { return folder_.path() / "home"; }
  fs::path make(const std::string& name) const {
    fs::create_directories(folder_.path() / name);
    return folder_.path() / name;
  }
  fs::path find(const std::string& start) const { return must(find_workspace(make(start))).folder; }
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  fs::path commit_in(const std::string& name) const {
    const fs::path folder = make(name);
    init_repository(folder);
    commit_file(folder, "a", "1", "Begin");
    return folder;
  }

  TempDir folder_;
  std::string before_;
};

TEST_F(WorkspaceDetection, TakesTheRootOfAnUnmarkedRepository) {
  make("home/repo/.git");
  EXPECT_EQ(find("home/repo/src/deep"), at("home/repo"));
  EXPECT_EQ(find("home/repo"), at("home/repo"));
}

TEST_F(WorkspaceDetection, TakesTheNearestMarkedFolderOfARepository) {
  make("home/repo/.git");
  make("home/repo/a/.skein");
  make("home/repo/b/.gitmem");
  make("home/repo/c/workspace/threads");
  make("home/repo/c/d/.skein");
  EXPECT_EQ(find("home/repo/a/x"), at("home/repo/a"));
  EXPECT_EQ(find("home/repo/b/x/y"), at("home/repo/b"));
  EXPECT_EQ(find("home/repo/c/x"), at("home/repo/c"));
  EXPECT_EQ(find("home/repo/c/d/x"), at("home/repo/c/d"));
  EXPECT_EQ(find("home/repo/e"), at("home/repo"));
}

TEST_F(WorkspaceDetection, IgnoresAFolderCalledWorkspaceWithoutThreads) {
  make("home/repo/.git");
  make("home/repo/a/workspace");
  EXPECT_EQ(find("home/repo/a/x"), at("home/repo"));
}

TEST_F(WorkspaceDetection, NeverLeavesTheRepository) {
  make("home/.gitmem");
  make("home/workspace/threads");
  make("home/projects/.skein");
  make("home/projects/repo/.git");
  EXPECT_EQ(find("home/projects/repo/src"), at("home/projects/repo"));
}

TEST_F(WorkspaceDetection, OutsideARepositoryTakesTheNearestOwnFolderBelowHome) {
  make("home/notes/.skein");
  EXPECT_EQ(find("home/notes/a/b"), at("home/notes"));
  EXPECT_EQ(find("home/plain/a"), at("home/plain/a"));
  // These marks are GitMem's and HQ's, which work in repositories.
  make("home/other/.gitmem");
  make("home/other/workspace/threads");
  EXPECT_EQ(find("home/other/a"), at("home/other/a"));
}

TEST_F(WorkspaceDetection, OutsideOfHomeTakesNoFolderAbove) {
  make("srv/.skein");
  EXPECT_EQ(find("srv/x"), at("srv/x"));
  EXPECT_EQ(find("srv"), at("srv"));
}

TEST_F(WorkspaceDetection, NeverTakesTheHomeFolderOrOneAbove) {
  make("home/.skein");
  make("home/.gitmem");
  make("home/workspace/threads");
  make(".skein");
  EXPECT_EQ(find("home/project"), at("home/project"));
  EXPECT_TRUE(fails(find_workspace(home()), ErrorCode::kInvalid,
                    {home().string(), "home folder", "--workspace"}));
}

TEST_F(WorkspaceDetection, ARepositoryInTheHomeFolderIsNoWorkspace) {
  make("home/.git");
  EXPECT_EQ(find("home/project/src"), at("home/project/src"));
  make("home/project/.gitmem");
  EXPECT_EQ(find("home/project/src"), at("home/project"));
  EXPECT_TRUE(fails(find_workspace(home()), ErrorCode::kInvalid, {"home folder"}));
}

TEST_F(WorkspaceDetection, FollowsLinksToTheFolderOneStandsIn) {
  make("home/repo/.git");
  make("home/repo/src");
  fs::create_directory_symlink(at("home/repo/src"), at("home/link"));
  EXPECT_EQ(must(find_workspace(at("home/link"))).folder, at("home/repo"));
}

TEST_F(WorkspaceDetection, ALinkedWorktreeStandsForItsMainCheckout) {
  const fs::path main = commit_in("home/main");
  git(main, {"worktree", "add", "--quiet", at("home/linked").string()});
  EXPECT_EQ(find("home/linked/src"), main);
  make("home/linked/.gitmem");
  EXPECT_EQ(find("home/linked/src"), main);
  make("home/main/src/.skein");
  EXPECT_EQ(find("home/linked/src/deep"), main / "src");
  EXPECT_EQ(find("home/linked"), main);
  EXPECT_EQ(must(find_workspace(at("home/linked/src"))).worktree, at("home/linked"));
  EXPECT_EQ(must(find_workspace(main / "src")).worktree, "");
}

TEST_F(WorkspaceDetection, AWorktreeOfABareRepositoryStandsForItself) {
  const fs::path main = commit_in("home/main");
  git(main, {"clone", "--quiet", "--bare", ".", at("home/bare.git").string()});
  git(at("home/bare.git"), {"worktree", "add", "--quiet", at("home/linked").string()});
  EXPECT_EQ(find("home/linked/src"), at("home/linked"));
}

TEST_F(WorkspaceDetection, ASubmoduleIsARepositoryOfItsOwn) {
  make("home/main/.git/modules/sub");
  put_file(at("home/main/sub/.git"), "gitdir: ../.git/modules/sub\n");
  EXPECT_EQ(find("home/main/sub/src"), at("home/main/sub"));
}

TEST_F(WorkspaceDetection, DoesNotBelieveAFolderThatClaimsToBelongToAnotherRepository) {
  const fs::path main = commit_in("home/victim");
  git(main, {"worktree", "add", "--quiet", at("home/linked").string()});
  // The same words as the real worktree has, in a folder that came from elsewhere.
  put_file(at("home/hostile/.git"), get_file(at("home/linked/.git")));
  EXPECT_EQ(find("home/hostile/src"), at("home/hostile"));
  // A repository of its own that claims another one's as the common one.
  const fs::path fake = make("home/liar/fake/.git/worktrees/w");
  put_file(at("home/liar/.git"), "gitdir: fake/.git/worktrees/w\n");
  put_file(fake / "gitdir", (at("home/liar") / ".git").string() + "\n");
  put_file(fake / "commondir", (main / ".git").string() + "\n");
  EXPECT_EQ(find("home/liar/src"), at("home/liar"));
  // Neither does it read more than git writes, or what is no path.
  put_file(at("home/liar/.git"), "gitdir: " + std::string(100'000, 'x'));
  EXPECT_EQ(find("home/liar/src"), at("home/liar"));
  put_file(at("home/liar/.git"), "");
  EXPECT_EQ(find("home/liar/src"), at("home/liar"));
}

TEST_F(WorkspaceDetection, RefusesMarksOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kOther = 54'321;
  make("home/repo/.git");
  const fs::path mark = make("home/repo/.skein");
  ASSERT_EQ(::chown(mark.c_str(), kOther, kOther), 0);
  EXPECT_TRUE(fails(find_workspace(make("home/repo/src")), ErrorCode::kInvalid,
                    {mark.string(), "54321", "another user"}));
  EXPECT_TRUE(
      fails(enter_workspace(at("home/repo"), {}), ErrorCode::kInvalid, {mark.string(), "54321"}));
  const fs::path planted = make("shared/.git");
  ASSERT_EQ(::chown(planted.c_str(), kOther, kOther), 0);
  EXPECT_TRUE(
      fails(find_workspace(make("shared/mine")), ErrorCode::kInvalid, {planted.string(), "54321"}));
  // A link of one's own to a folder of another user.
  make("home/linking/.git");
  fs::create_directory_symlink(mark, at("home/linking/.skein"));
  EXPECT_TRUE(fails(find_workspace(at("home/linking")), ErrorCode::kInvalid, {"54321"}));
}

TEST_F(WorkspaceDetection, AFolderThatIsNotThereIsNamed) {
  EXPECT_TRUE(fails(find_workspace(at("none")), ErrorCode::kInvalid, {at("none").string()}));
}

}  // namespace
}  // namespace skein::test
