// A folder of somebody else's whose links lead out of it: nothing outside is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "program.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class HostileFolder : public testing::Test {
 protected:
  HostileFolder() {
    put_file(victim() / "file", "theirs");
    put_file(victim() / "settings.json", "{}");
    fs::create_directories(victim() / "folder");
    put_file(victim() / "folder" / "old.json", "{}");
    fs::create_directories(folder());
    init_repository(folder());
    commit_file(folder(), "README", "Clone me", "Begin");
    before_ = state();
  }

  fs::path folder() const { return root_.path() / "home" / "clone"; }
  fs::path victim() const { return root_.path() / "victim"; }

  std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(victim())) {
      files[entry.path().string()] = entry.is_directory() ? "" : get_file(entry.path());
    }
    return files;
  }
  // A link of the hostile folder.
  void link(const std::string& name, const std::string& target) const {
    fs::create_directories((folder() / name).parent_path());
    fs::create_symlink(victim() / target, folder() / name);
  }
  Start start(std::vector<std::string> arguments) const {
    return {.folder = folder(),
            .arguments = std::move(arguments),
            .environment = {"HOME=" + (root_.path() / "home").string()}};
  }
  Ran run(std::vector<std::string> arguments, std::string_view input = {}) const {
    return Running(start(std::move(arguments))).finish(input);
  }
  void expect_refused(const Ran& ran, const std::string& name) const {
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_THAT(ran.err, AllOf(HasSubstr((folder() / name).string()), HasSubstr(victim().string()),
                               HasSubstr("symbolic link")));
    EXPECT_EQ(state(), before_);
  }
  void expect_untouched() const { EXPECT_EQ(state(), before_); }

  TempDir root_;
  std::map<std::string, std::string> before_;
};

TEST_F(HostileFolder, CannotLeadTheDatabaseElsewhere) {
  link(".skein/skein.db", "new.db");
  expect_refused(run({"thread", "create"}), ".skein/skein.db");
}

TEST_F(HostileFolder, CannotLeadTheFilesBesideTheDatabaseElsewhere) {
  for (const char* ending : {".lock", "-wal", "-shm", "-journal"}) {
    const std::string name = std::string(".skein/skein.db") + ending;
    link(name, "new");
    expect_refused(run({"thread", "create"}), name);
    fs::remove(folder() / name);
  }
}

TEST_F(HostileFolder, CannotLeadItsOwnFolderElsewhere) {
  link(".skein", "folder");
  expect_refused(run({"thread", "create"}), ".skein");
  expect_refused(run({"init"}), ".skein");
  expect_refused(run({"checkpoint", "a", "--summary", "b"}), ".skein");
}

TEST_F(HostileFolder, CannotLeadTheSearchIndexElsewhere) {
  ASSERT_EQ(run({"thread", "create"}).code, 0);
  for (const char* name :
       {".skein/skein.db.recall", ".skein/skein.db.recall.lock", ".skein/skein.db.recall-wal"}) {
    fs::remove(folder() / name);
    link(name, "new");
    expect_refused(run({"backfill", "--embedder", "none"}), name);
    fs::remove(folder() / name);
  }
}

TEST_F(HostileFolder, CannotLeadTheAuditLogElsewhere) {
  link(".skein/audit.log", "file");
  expect_refused(run({"serve", "--port", "0"}), ".skein/audit.log");
}

TEST_F(HostileFolder, CannotLeadTheFilesOfHooksElsewhere) {
  const std::string event = R"({"session_id":"s1","hook_event_name":"SessionStart"})";
  link(".skein/hooks", "folder");
  EXPECT_EQ(run({"hook", "session-start"}, event).code, 0);
  expect_untouched();
  EXPECT_THAT(get_file(folder() / ".skein/hook.log"),
              AllOf(HasSubstr(".skein/hooks"), HasSubstr("symbolic link")));
  // Sessions that are old, or cannot be read, are forgotten.
  run({"cleanup"});
  expect_untouched();
}

TEST_F(HostileFolder, CannotLeadTheLogOfHooksElsewhere) {
  link(".skein/hook.log", "file");
  EXPECT_EQ(run({"hook", "stop"}, "no JSON").code, 0);
  expect_untouched();
}

TEST_F(HostileFolder, CannotLeadTheFilesOfOneHookSessionElsewhere) {
  link(".skein/hooks/s1.json", "file");
  link(".skein/hooks/lock", "new");
  EXPECT_EQ(
      run({"hook", "session-start"}, R"({"session_id":"s1","hook_event_name":"SessionStart"})")
          .code,
      0);
  expect_untouched();
}

TEST_F(HostileFolder, CannotLeadCheckpointsElsewhere) {
  link("workspace/threads", "folder");
  expect_refused(run({"checkpoint", "a", "--summary", "b"}), "workspace/threads");
  fs::remove(folder() / "workspace/threads");
  fs::remove(folder() / "workspace");
  link("workspace", "folder");
  expect_refused(run({"checkpoint", "a", "--summary", "b"}), "workspace");
}

TEST_F(HostileFolder, CannotLeadTheListsOfCheckpointsElsewhere) {
  link("workspace/threads/INDEX.md", "file");
  link("workspace/threads/recent.md", "file");
  EXPECT_EQ(run({"checkpoint", "a", "--summary", "b"}).code, 0);
  expect_untouched();
}

TEST_F(HostileFolder, CannotLeadItemsElsewhere) {
  link(".gitmem", "folder");
  expect_refused(run({"item", "create", "a"}), ".gitmem");
  fs::remove(folder() / ".gitmem");
  link(".gitmem/threads.json.lock", "new");
  expect_refused(run({"item", "create", "a"}), ".gitmem/threads.json.lock");
  fs::remove(folder() / ".gitmem/threads.json.lock");
  link(".gitmem/threads.json", "file");
  EXPECT_EQ(run({"item", "create", "a"}).code, 1);
  expect_untouched();
}

TEST_F(HostileFolder, CannotLeadFoldersOfThreadsElsewhere) {
  for (const char* name : {"agents", "agents/default", "agents/default/threads", "agents/.skein"}) {
    link(name, "folder");
    expect_refused(run({"--store", "jsonl:agents", "thread", "create"}), name);
    fs::remove_all(folder() / "agents");
  }
}

TEST_F(HostileFolder, CannotLeadInstallersElsewhere) {
  link(".claude", "");
  expect_refused(run({"hook", "install", "--yes"}), ".claude");
  link(".mcp.json", "settings.json");
  expect_refused(run({"mcp", "install", "claude-code", "--yes"}), ".mcp.json");
  link(".cursor", "folder");
  expect_refused(run({"mcp", "install", "cursor", "--yes"}), ".cursor");
}

TEST_F(HostileFolder, ADoctorThatRepairsChangesNoModesOutside) {
  ASSERT_EQ(run({"thread", "create"}).code, 0);
  fs::permissions(victim() / "file", fs::perms(0644));
  fs::permissions(victim() / "folder", fs::perms(0755));
  link(".gitmem/list", "file");
  link("workspace/threads", "folder");
  EXPECT_EQ(run({"doctor", "--repair"}).code, 0);
  EXPECT_EQ(fs::status(victim() / "file").permissions(), fs::perms(0644));
  EXPECT_EQ(fs::status(victim() / "folder").permissions(), fs::perms(0755));
}

// What the user names is the user's decision.
TEST_F(HostileFolder, AStoreThatTheUserNamesElsewhereMayBeALink) {
  fs::create_directory_symlink(victim(), root_.path() / "mine");
  const std::string url = "sqlite:" + (root_.path() / "mine/mine.db").string();
  EXPECT_EQ(run({"--store", url, "thread", "create"}).code, 0);
  EXPECT_TRUE(fs::exists(victim() / "mine.db"));
}

TEST_F(HostileFolder, ALinkedFileOfTheUsersIsChangedWhereItIs) {
  const fs::path codex = root_.path() / "home" / ".codex";
  fs::create_directories(codex);
  put_file(root_.path() / "dotfiles.toml", "model = \"x\"\n");
  fs::create_symlink(root_.path() / "dotfiles.toml", codex / "config.toml");
  const Ran ran = run({"mcp", "install", "codex", "--yes"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_TRUE(fs::is_symlink(codex / "config.toml"));
  EXPECT_THAT(get_file(root_.path() / "dotfiles.toml"),
              AllOf(HasSubstr("model = \"x\""), HasSubstr("mcp_servers.skein")));
}

}  // namespace
}  // namespace skein::test
