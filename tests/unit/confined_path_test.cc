// Writes below a folder that hostile links are in.
#include "core/confined_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "core/own_folder.h"
#include "core/sqlite.h"
#include "skein/store.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat st{};
  EXPECT_EQ(::lstat(path.c_str(), &st), 0) << path;
  return st.st_mode & 0777U;
}

class ConfinedPaths : public testing::Test {
 protected:
  ConfinedPaths() {
    fs::create_directories(root() / "inside");
    fs::create_directories(outside());
    put_file(outside() / "file", "theirs");
  }

  fs::path root() const { return folder_.path() / "root"; }
  fs::path outside() const { return folder_.path() / "outside"; }
  std::string in_root(const std::string& name) const { return (root() / name).string(); }
  void expect_outside_untouched() const {
    EXPECT_EQ(get_file(outside() / "file"), "theirs");
    EXPECT_EQ(std::distance(fs::directory_iterator(outside()), {}), 1);
  }

  TempDir folder_;
  Flusher flusher_;
};

TEST_F(ConfinedPaths, RefusesToWriteThroughALinkOnTheWayAndNamesIt) {
  const ConfinedFolder confined(root().string());
  fs::create_directory_symlink(outside(), root() / "way");
  const auto refused = [&](const Result<void>& result) {
    EXPECT_TRUE(fails(result, ErrorCode::kIo, {in_root("way"), outside().string(), "link"}));
  };
  const auto open = [&](int flags) -> Result<void> {
    auto fd = open_file(in_root("way/file"), flags);
    return fd ? Result<void>() : tl::unexpected(fd.error());
  };
  refused(open(O_WRONLY | O_TRUNC));
  refused(open(O_RDWR | O_CREAT));
  refused(replace_file(in_root("way/file"), "ours", flusher_));
  refused(make_folders(in_root("way"), flusher_));
  refused(make_folders(in_root("way/a/b"), flusher_));
  EXPECT_TRUE(fails(create_file(in_root("way/new"), "x", flusher_), ErrorCode::kIo, {"way"}));
  EXPECT_TRUE(fails(remove_file(in_root("way/file")), ErrorCode::kIo, {"way"}));
  EXPECT_TRUE(fails(Database::open(in_root("way/x.db"), 0), ErrorCode::kIo, {"way"}));
  expect_outside_untouched();
}

TEST_F(ConfinedPaths, RemovesNothingBehindALinkOnTheWay) {
  const ConfinedFolder confined(root().string());
  fs::create_directory_symlink(outside(), root() / "way");
  // As the file beside the one to be replaced is called.
  constexpr int kNames = 1000;
  const std::string beside = (outside() / "file.tmp").string() + std::to_string(::getpid()) + "-";
  for (int i = 0; i < kNames; ++i) put_file(beside + std::to_string(i), "theirs");
  EXPECT_TRUE(fails(replace_file(in_root("way/file"), "ours", flusher_), ErrorCode::kIo, {"way"}));
  EXPECT_TRUE(fails(create_file(in_root("way/file"), "ours", flusher_), ErrorCode::kIo, {"way"}));
  EXPECT_EQ(std::distance(fs::directory_iterator(outside()), {}), kNames + 1);
}

TEST_F(ConfinedPaths, RefusesALinkAtTheEndAndNamesItsTarget) {
  const ConfinedFolder confined(root().string());
  fs::create_symlink(outside() / "file", root() / "log");
  fs::create_symlink(outside() / "new.db", root() / "x.db");
  EXPECT_TRUE(fails(open_file(in_root("log"), O_WRONLY | O_APPEND | O_CREAT), ErrorCode::kIo,
                    {in_root("log"), (outside() / "file").string()}));
  EXPECT_TRUE(fails(check_no_links(in_root("log")), ErrorCode::kIo, {in_root("log")}));
  EXPECT_TRUE(fails(Database::open(in_root("x.db"), 0), ErrorCode::kIo,
                    {in_root("x.db"), (outside() / "new.db").string()}));
  expect_outside_untouched();
}

TEST_F(ConfinedPaths, RefusesLinksInPlaceOfTheFilesBesideADatabase) {
  const ConfinedFolder confined(root().string());
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    const fs::path link = root() / (std::string("x.db") + ending);
    fs::create_symlink(outside() / "new", link);
    EXPECT_TRUE(fails(Database::open(in_root("x.db"), 0), ErrorCode::kIo, {link.string()}));
    fs::remove(link);
  }
  EXPECT_TRUE(ok(Database::open(in_root("x.db"), 0)));
  expect_outside_untouched();
}

TEST_F(ConfinedPaths, RefusesToClimbOut) {
  const ConfinedFolder confined(root().string());
  EXPECT_TRUE(
      fails(open_file(in_root("inside/../../outside/file"), O_WRONLY), ErrorCode::kIo, {"\"..\""}));
  expect_outside_untouched();
}

TEST_F(ConfinedPaths, WritesWhereNoLinkIs) {
  const ConfinedFolder confined(root().string());
  must(replace_file(in_root("inside//./a"), "x", flusher_));
  EXPECT_EQ(get_file(root() / "inside" / "a"), "x");
  EXPECT_TRUE(fails(open_file(in_root("none/a"), O_WRONLY | O_CREAT), ErrorCode::kNotFound,
                    {in_root("none")}));
  EXPECT_FALSE(must(remove_file(in_root("none/a"))));
  EXPECT_TRUE(must(remove_file(in_root("inside/a"))));
}

TEST_F(ConfinedPaths, FollowsLinksAboveAndAtTheConfinedFolderItself) {
  fs::create_directory_symlink(root(), folder_.path() / "link");
  const std::string link = (folder_.path() / "link").string();
  const ConfinedFolder confined(link);
  must(replace_file(link + "/inside/a", "x", flusher_));
  EXPECT_EQ(get_file(root() / "inside" / "a"), "x");
}

TEST_F(ConfinedPaths, FollowsLinksElsewhereAndOnceNobodyConfines) {
  fs::create_directory_symlink(outside(), root() / "way");
  {
    const ConfinedFolder confined(root().string());
  }
  must(replace_file(in_root("way/file"), "ours", flusher_));
  EXPECT_EQ(get_file(outside() / "file"), "ours");
}

TEST_F(ConfinedPaths, TheOutermostConfinedFolderCounts) {
  fs::create_directory_symlink(outside(), root() / "way");
  const ConfinedFolder outer(root().string());
  const ConfinedFolder inner(in_root("way"));
  EXPECT_TRUE(fails(replace_file(in_root("way/file"), "ours", flusher_), ErrorCode::kIo, {"way"}));
  expect_outside_untouched();
}

TEST_F(ConfinedPaths, AFolderOfThreadsWritesThroughNoLinkInIt) {
  const std::string store_folder = in_root("store");
  fs::create_directories(store_folder + "/default");
  fs::create_directory_symlink(outside(), store_folder + "/default/threads");
  const auto store = must(open_store("jsonl:" + store_folder));
  NewThread thread;
  thread.agent_id = "default";
  EXPECT_TRUE(fails(store->create(thread), ErrorCode::kIo,
                    {store_folder + "/default/threads", outside().string()}));
  expect_outside_untouched();
  for (const char* part : {"lock", "leases", "torn", "tmp", "manifests"}) {
    const std::string other = in_root(std::string("other-") + part);
    fs::create_directories(other + "/.skein");
    fs::create_symlink(outside() / "new", other + "/.skein/" + part);
    EXPECT_TRUE(fails(open_store("jsonl:" + other), ErrorCode::kIo,
                      {other + "/.skein/" + part, (outside() / "new").string()}));
  }
  expect_outside_untouched();
}

TEST_F(ConfinedPaths, NewFilesAndFoldersArePrivateWhateverTheUmask) {
  for (const mode_t mask : {000, 022, 077}) {
    const mode_t before = ::umask(mask);
    const std::string folder = in_root("mask" + std::to_string(mask));
    must(make_folders(folder + "/a", flusher_));
    must(replace_file(folder + "/replaced", "x", flusher_));
    must(create_file(folder + "/created", "x", flusher_));
    must(make_empty_file(folder + "/empty"));
    must(open_file(folder + "/opened", O_WRONLY | O_CREAT));
    {
      Database database = must(Database::open(folder + "/x.db", 0));
      must(database.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)"));
      for (const char* name : {"x.db", "x.db-wal", "x.db-shm"}) {
        EXPECT_EQ(mode_of(fs::path(folder) / name), 0600U) << name << " " << mask;
      }
    }
    ::umask(before);
    EXPECT_EQ(mode_of(folder), 0700U) << mask;
    EXPECT_EQ(mode_of(folder + "/a"), 0700U) << mask;
    for (const char* name : {"replaced", "created", "empty", "opened"}) {
      EXPECT_EQ(mode_of(fs::path(folder) / name), 0600U) << name << " " << mask;
    }
  }
}

TEST_F(ConfinedPaths, AReplacedFileKeepsItsMode) {
  put_file(root() / "shared", "1");
  fs::permissions(root() / "shared", fs::perms(0664));
  must(replace_file(in_root("shared"), "2", flusher_));
  EXPECT_EQ(mode_of(root() / "shared"), 0664U);
}

TEST_F(ConfinedPaths, AnOwnFolderIsPrivateNotForGitAndAnnouncedOnce) {
  int made = 0;
  on_own_folder_made(root().string(), [&made] { ++made; });
  must(make_own_folder(root().string(), flusher_));
  must(make_own_folder(root().string(), flusher_));
  EXPECT_EQ(made, 1);
  EXPECT_EQ(mode_of(root() / ".skein"), 0700U);
  EXPECT_EQ(get_file(root() / ".skein" / ".gitignore"), "*\n!.gitignore\n!config.json\n");
}

TEST_F(ConfinedPaths, AnOwnFolderThatGitMadeBecomesPrivateBeforeItIsUsed) {
  put_file(root() / ".skein" / "config.json", "{}");
  put_file(root() / ".skein" / ".gitignore", "mine\n");
  fs::permissions(root() / ".skein", fs::perms(0755));
  must(make_own_folder(root().string(), flusher_));
  EXPECT_EQ(mode_of(root() / ".skein"), 0700U);
  EXPECT_EQ(get_file(root() / ".skein" / ".gitignore"), "mine\n");
}

TEST_F(ConfinedPaths, AnOwnFolderInUseKeepsItsMode) {
  put_file(root() / ".skein" / "skein.db", "");
  fs::permissions(root() / ".skein", fs::perms(0750));
  must(make_own_folder(root().string(), flusher_));
  EXPECT_EQ(mode_of(root() / ".skein"), 0750U);
  EXPECT_EQ(get_file(root() / ".skein" / ".gitignore"), "*\n!.gitignore\n!config.json\n");
}

}  // namespace
}  // namespace skein::test
