// Pipes, folders and links of a clone in the places of locks, logs and lists of Skein's own: nobody
// waits for them, and nothing outside is touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "program.h"
#include "support/git_sandbox.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class HostilePlace : public testing::TestWithParam<const char*> {
 protected:
  HostilePlace() {
    put_file(outside() / "file", "theirs");
    fs::create_directories(place().parent_path());
  }

  fs::path outside() const { return outside_.path(); }
  fs::path place() const { return workspace_.path() / GetParam(); }
  void expect_no_waiting() const {
    const Ran ran = workspace_.shell(
        "for c in 'thread create' 'item create x' 'checkpoint t --summary s' 'agent list' "
        "'search x --embedder none' 'doctor --repair'; do "
        "timeout 20 skein $c; test $? -lt 124 || echo KILLED $c; done; "
        "echo '{\"session_id\":\"s1\",\"hook_event_name\":\"SessionStart\"}' | "
        "timeout 20 skein hook session-start; test $? -lt 124 || echo KILLED hook");
    EXPECT_THAT(ran.out, Not(HasSubstr("KILLED"))) << ran;
  }
  void expect_outside_is_as_it_was() const {
    EXPECT_EQ(get_file(outside() / "file"), "theirs");
    EXPECT_EQ(std::distance(fs::directory_iterator(outside()), {}), 1);
  }

  TempDir outside_;
  Workspace workspace_;
};

INSTANTIATE_TEST_SUITE_P(, HostilePlace,
                         testing::Values(".skein/skein.db.lock", ".skein/skein.db.recall.lock",
                                         ".skein/hooks", ".skein/hook.log", ".skein/.gitignore",
                                         ".skein/checkpoints.cache", ".gitmem/threads.json",
                                         ".gitmem/threads.json.lock", "workspace/threads",
                                         "agents/a/agent.json", ".mcp.json"),
                         [](const auto& place) {
                           std::string name(place.param);
                           std::erase_if(name, [](char c) { return c == '.' || c == '/'; });
                           return name;
                         });

TEST_P(HostilePlace, APipeKeepsNobodyWaiting) {
  ASSERT_EQ(::mkfifo(place().c_str(), 0600), 0);
  expect_no_waiting();
}

TEST_P(HostilePlace, AFolderKeepsNobodyWaiting) {
  fs::create_directory(place());
  expect_no_waiting();
}

TEST_P(HostilePlace, ALinkToAFileOutsideChangesNothingThere) {
  fs::create_symlink(outside() / "file", place());
  expect_no_waiting();
  expect_outside_is_as_it_was();
}

TEST_P(HostilePlace, ALinkToNothingMakesNothingOutside) {
  fs::create_symlink(outside() / "new", place());
  expect_no_waiting();
  expect_outside_is_as_it_was();
}

TEST_P(HostilePlace, AHoleOfGigabytesIsNotRead) {
  put_file(place(), "");
  fs::resize_file(place(), std::uintmax_t{3} << 30);  // every file system takes that
  expect_no_waiting();
}

// A knowledge repository inside the workspace, with a pipe where git or Skein would read a file.
class HostileKnowledge : public testing::Test {
 protected:
  HostileKnowledge() {
    fs::create_directories(repository());
    init_repository(repository());
    commit_file(repository(), "k", "1", "k");
  }
  fs::path repository() const { return workspace_.path() / "knowledge/public/kb"; }
  void pipe(const char* name) const {
    fs::remove_all(repository() / name);
    ASSERT_EQ(::mkfifo((repository() / name).c_str(), 0600), 0);
  }
  Ran checkpoint() const {
    return workspace_.shell("timeout 30 skein checkpoint t --summary s --json");
  }

  Workspace workspace_;
};

TEST_F(HostileKnowledge, PipesInItsWorkTreeAreNotRead) {
  init_repository(workspace_.path());
  pipe("new");
  const auto state = [&] {
    return checkpoint().json().at("git").at("knowledge_repos").at("kb").at("dirty");
  };
  EXPECT_EQ(state(), false) << "git does not track pipes";
  pipe("k");
  EXPECT_EQ(state(), true);
}

TEST_F(HostileKnowledge, PipeThatGitReadsKeepsNobodyWaitingForLong) {
  init_repository(workspace_.path());
  pipe(".git/config");
  const Ran ran = checkpoint();
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, HasSubstr("knowledge repository \"kb\""));
}

}  // namespace
}  // namespace skein::test
