// What a program that embeds Skein opens.
#include "skein/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::SizeIs;

class EmbeddedWorkspace : public testing::Test {
 protected:
  void SetUp() override { ::setenv("SKEIN_EMBEDDER", "none", 1); }
  void TearDown() override { ::unsetenv("SKEIN_EMBEDDER"); }
  std::string folder() const { return folder_.path().string(); }

  TempDir folder_;
};

TEST_F(EmbeddedWorkspace, RunsAnAgentAndFindsAgainWhatWasSaid) {
  const auto workspace = must(Workspace::open(folder()));
  const RunOutcome first = must(workspace->run("echo", "Where do we meet?"));
  EXPECT_EQ(first.response, "Where do we meet?");
  const std::string thread = first.run.thread.str();
  const RunOutcome second = must(workspace->run("echo", "At the pier", thread));
  EXPECT_EQ(second.run.thread, first.run.thread);
  EXPECT_THAT(must(workspace->threads().messages(thread)), SizeIs(4));
  must(workspace->backfill());
  const SearchAnswer found = must(workspace->search("pier"));
  ASSERT_THAT(found.results, SizeIs(1));
  EXPECT_EQ(found.results[0].thread, first.run.thread);
}

TEST_F(EmbeddedWorkspace, KeepsWhatWasSaidForTheNextWhoOpensIt) {
  ThreadId thread;
  {
    const auto workspace =
        must(Workspace::open(folder(), {.store = "sqlite:" + folder() + "/a.db"}));
    thread = must(workspace->run("echo", "Hello")).run.thread;
  }
  const auto workspace = must(Workspace::open(folder(), {.store = "sqlite:" + folder() + "/a.db"}));
  EXPECT_TRUE(must(workspace->store().get(thread)).has_value());
}

TEST_F(EmbeddedWorkspace, RefusesAgentsThatAreNotThere) {
  const auto workspace = must(Workspace::open(folder()));
  EXPECT_TRUE(fails(workspace->run("nobody", "Hello"), ErrorCode::kNotFound, {"nobody"}));
}

TEST_F(EmbeddedWorkspace, RunsNoAgentThatIsNotTrusted) {
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  };
  write("engine.sh", "#!/bin/sh\ntouch ran\n");
  std::filesystem::permissions(folder_.path() / "engine.sh", std::filesystem::perms::owner_all);
  write("agents/helper/agent.json",
        R"({"engine":"claude-code","options":{"program":"./engine.sh"}})");
  write("agents/sender/agent.json",
        R"({"engine":"openai","model":"m","options":{"baseUrl":"http://127.0.0.1:9"}})");
  const auto workspace = must(Workspace::open(folder()));
  for (const std::string agent : {"helper", "sender"}) {
    EXPECT_TRUE(fails(workspace->run(agent, "Hello"), ErrorCode::kInvalid,
                      {"agent \"" + agent + "\"", "skein trust"}));
    EXPECT_TRUE(fails(workspace->tasks().create({.agent_id = agent, .text = "Hello"}),
                      ErrorCode::kInvalid, {"skein trust"}));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ran"));
}

TEST_F(EmbeddedWorkspace, ReportsSettingsThatHaveNoEffect) {
  std::filesystem::create_directories(folder_.path() / ".skein");
  std::ofstream(folder_.path() / ".skein/config.json") << R"({"embedder":"minilm","server":{}})";
  std::string log;
  must(Workspace::open(folder(), {.log = [&](std::string_view line) { log += line; }}));
  EXPECT_THAT(
      log, testing::AllOf(testing::HasSubstr("\"embedder\""), testing::HasSubstr("not trusted")));
}

}  // namespace
}  // namespace skein::test
