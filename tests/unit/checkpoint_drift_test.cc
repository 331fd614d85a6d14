// How far work has moved since a checkpoint, compared with the files as they were at that moment.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "checkpoints_fixture.h"
#include "work/file_content.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class CheckpointDrifts : public CheckpointsTest {
 protected:
  CheckpointDrifts() {
    init_repository(workspace());
    commit_file(workspace(), "tracked", "1", "first");
  }
  std::vector<std::string> changed_since(const Checkpoint& checkpoint) {
    const CheckpointDrift drift = checkpoints().drift(checkpoint);
    EXPECT_EQ(drift.unknown, "");
    return drift.changed_files;
  }
};

TEST_F(CheckpointDrifts, CompareDirtyAndUntrackedFilesWithThatMoment) {
  put_file(workspace() / "tracked", "2");
  put_file(workspace() / "new/untracked", "1");
  const Checkpoint made = make("x");
  EXPECT_THAT(made.files_touched, ElementsAre("tracked", "new/untracked"));
  EXPECT_TRUE(checkpoints().drift(made).none());

  put_file(workspace() / "new/untracked", "2");
  EXPECT_THAT(changed_since(made), ElementsAre("new/untracked"));
  put_file(workspace() / "new/untracked", "1");
  put_file(workspace() / "tracked", "3");
  EXPECT_THAT(changed_since(made), ElementsAre("tracked"));
  put_file(workspace() / "tracked", "1");
  EXPECT_THAT(changed_since(made), ElementsAre("tracked")) << "reverted to the commit";
  fs::remove(workspace() / "new/untracked");
  EXPECT_THAT(changed_since(made), ElementsAre("new/untracked", "tracked"));
}

TEST_F(CheckpointDrifts, SayNothingOfFilesThatWereOnlyCommitted) {
  put_file(workspace() / "tracked", "2");
  put_file(workspace() / "untracked", "1");
  const Checkpoint made = make("x");
  git(workspace(), {"add", "--all"});
  git(workspace(), {"commit", "--quiet", "-m", "as they were"});
  EXPECT_THAT(changed_since(made), IsEmpty());
  EXPECT_EQ(checkpoints().drift(made).commits_since, 1u);
}

TEST_F(CheckpointDrifts, KnowFilesThatWereDeletedAndLinks) {
  fs::remove(workspace() / "tracked");
  fs::create_symlink("/etc/passwd", workspace() / "link");
  const Checkpoint made = make("x");
  EXPECT_TRUE(checkpoints().drift(made).none());
  fs::remove(workspace() / "link");
  fs::create_symlink("/etc/group", workspace() / "link");
  put_file(workspace() / "tracked", "1");
  EXPECT_THAT(changed_since(made), ElementsAre("link", "tracked"));
}

TEST_F(CheckpointDrifts, OfCheckpointsWithoutContentsCompareWithTheCommit) {
  put_file(workspace() / "tracked", "2");
  put_file(workspace() / "untracked", "1");
  Checkpoint made = make("x");
  made.git->uncommitted.reset();
  EXPECT_THAT(changed_since(made), ElementsAre("tracked"));
}

TEST_F(CheckpointDrifts, OfAutomaticCheckpointsKnowTheFilesThatTheyName) {
  put_file(workspace() / "tracked", "2");
  put_file(workspace() / "other", "1");
  NewCheckpoint checkpoint = wanted("x", CheckpointType::kAuto);
  checkpoint.files_touched = {(workspace() / "tracked").string()};
  const Checkpoint made = must(checkpoints().create(checkpoint));
  EXPECT_THAT(made.files_touched, ElementsAre("tracked"));
  ASSERT_EQ(made.git->uncommitted->size(), 1u);
  EXPECT_THAT(changed_since(made), IsEmpty());
}

TEST_F(CheckpointDrifts, SeeFilesInSubmodules) {
  const GitSandbox inner;
  inner.commit("a", "1", "inner");
  git(workspace(), {"submodule", "--quiet", "add", inner.path().string(), "sub"});
  git(workspace(), {"commit", "--quiet", "-m", "with a submodule"});
  put_file(workspace() / "sub/a", "2");
  const Checkpoint made = make("x");
  EXPECT_EQ(made.git->dirty, true);
  EXPECT_THAT(made.files_touched, ElementsAre("sub/a"));
  EXPECT_TRUE(checkpoints().drift(made).none());
  put_file(workspace() / "sub/a", "3");
  EXPECT_THAT(changed_since(made), ElementsAre("sub/a"));
  Checkpoint older = made;
  older.git->uncommitted.reset();
  EXPECT_EQ(checkpoints().drift(older).unknown, "");
}

TEST_F(CheckpointDrifts, ReadNoFileOutsideTheRepository) {
  const TempDir outside;
  put_file(outside.path() / "secret", "1");
  fs::create_directory_symlink(outside.path(), workspace() / "door");
  FileContents contents(workspace().string());
  EXPECT_THAT(contents.of("tracked"), StartsWith("sha256:"));
  EXPECT_THAT(contents.of("door"), StartsWith("link:"));
  EXPECT_EQ(contents.of("door/secret"), "absent") << "as git sees it";
  EXPECT_EQ(contents.of("../" + outside.path().filename().string() + "/secret"), "");
  EXPECT_EQ(contents.of((outside.path() / "secret").string()), "");
  EXPECT_EQ(contents.of(""), "");
  EXPECT_EQ(contents.of(".git"), "") << "a folder";
  ASSERT_EQ(::mkfifo((workspace() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(contents.of("pipe"), "");
}

TEST_F(CheckpointDrifts, KnowLargeFilesByTheirSize) {
  const std::uint64_t size = FileContents::kMaxFileBytes + 1;
  put_file(workspace() / "large", "");
  fs::resize_file(workspace() / "large", size);
  const Checkpoint made = make("x");
  ASSERT_EQ(made.git->uncommitted->size(), 1u);
  EXPECT_EQ(made.git->uncommitted->front().content, "size:" + std::to_string(size));
  EXPECT_TRUE(checkpoints().drift(made).none());
  fs::resize_file(workspace() / "large", size + 1);
  EXPECT_THAT(changed_since(made), ElementsAre("large"));
}

TEST_F(CheckpointDrifts, ReadABoundedNumberOfBytes) {
  FileContents contents(workspace().string());
  fs::resize_file(workspace() / "tracked", FileContents::kMaxFileBytes);
  const std::string hash = contents.of("tracked");
  for (std::uint64_t i = 1; i < FileContents::kMaxBytes / FileContents::kMaxFileBytes; ++i) {
    EXPECT_EQ(contents.of("tracked"), hash);
  }
  EXPECT_THAT(contents.of("tracked"), StartsWith("size:"));
  EXPECT_TRUE(contents.is_still("tracked", hash)) << "nobody can say";
  fs::resize_file(workspace() / "tracked", FileContents::kMaxFileBytes + 1);
  EXPECT_FALSE(contents.is_still("tracked", hash));
}

TEST_F(CheckpointDrifts, OfMoreFilesThanACheckpointCanHoldAreLeftOutBeforeItIsRefused) {
  const std::string folder = std::string(200, 'd') + "/" + std::string(200, 'e') + "/" +
                             std::string(200, 'f') + "/" + std::string(100, 'g');
  for (int i = 0; i < 800; ++i) put_file(workspace() / folder / std::to_string(i), "1");
  const Checkpoint made = make("x");
  EXPECT_EQ(made.files_touched.size(), 800u);
  EXPECT_FALSE(made.git->uncommitted);
}

}  // namespace
}  // namespace skein::test
