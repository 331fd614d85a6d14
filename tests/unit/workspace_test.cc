// What a program that embeds Skein opens.
#include "skein/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "skein/usage.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class EmbeddedWorkspace : public testing::Test {
 protected:
  void SetUp() override { ::setenv("SKEIN_EMBEDDER", "none", 1); }
  void TearDown() override { ::unsetenv("SKEIN_EMBEDDER"); }
  std::string folder() const { return folder_.path().string(); }

  // An agent "helper" whose engine is a script that stands for Claude Code.
  void define_helper(const std::string& script) const {
    const std::filesystem::path program = elsewhere_.path() / "engine.sh";
    std::ofstream(program) << "#!/bin/sh\ncat > /dev/null\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    std::ofstream(config_file()) << R"({"agents":{"helper":{"engine":"claude-code","options":)"
                                 << R"({"program":")" << program.string() << R"("}}}})";
  }
  std::string config_file() const { return (elsewhere_.path() / "named.json").string(); }
  // With six messages.
  static std::string thread_of_helper(Workspace& workspace) {
    NewConversation conversation;
    conversation.agent_id = "helper";
    for (int i = 0; i < 6; ++i) {
      conversation.initial_messages.push_back(
          {.text = "We decided to use port " + std::to_string(7000 + i) + "."});
    }
    return must(workspace.threads().create(conversation)).id.str();
  }
  const SummarizeRequest kShort{.threshold = 2, .keep_recent = 1};

  TempDir folder_;
  TempDir elsewhere_;
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

TEST_F(EmbeddedWorkspace, SummarizesByTheAgentsEngine) {
  define_helper(R"(echo '{"type":"result","subtype":"success","result":"Ports were chosen.",)"
                R"("total_cost_usd":0.5,"usage":{"input_tokens":10}}')");
  // A configuration that the program names counts as trusted.
  const auto workspace = must(Workspace::open(folder(), {.config_file = config_file()}));
  const std::string thread = thread_of_helper(*workspace);
  std::vector<std::uint64_t> done;
  const SummaryOutcome made = must(workspace->summarize(
      thread, {.request = kShort,
               .progress = [&](const SummaryProgress& now) { done.push_back(now.done); }}));
  ASSERT_TRUE(made.summary) << made.note;
  EXPECT_EQ(made.summary->text, "Ports were chosen.");
  EXPECT_EQ(made.note, "");
  EXPECT_THAT(done, ElementsAre(0, 5));
  EXPECT_EQ(must(usage_report(workspace->store(), {})).all.cost_usd, 0.5);
  EXPECT_TRUE(fails(workspace->summarize("000000000000"), ErrorCode::kNotFound));
}

TEST_F(EmbeddedWorkspace, StopsASummaryAndWritesNothing) {
  define_helper("exec sleep 1000");
  const auto workspace = must(Workspace::open(folder(), {.config_file = config_file()}));
  const std::string thread = thread_of_helper(*workspace);
  std::stop_source stop;
  EXPECT_TRUE(fails(workspace->summarize(
                        thread, {.request = kShort,
                                 .stop = stop.get_token(),
                                 .progress = [&](const SummaryProgress&) { stop.request_stop(); }}),
                    ErrorCode::kIo, {"stopped"}));
  EXPECT_THAT(must(workspace->threads().messages(thread)), SizeIs(6));
}

TEST_F(EmbeddedWorkspace, ExecutesNothingForASummaryOfAnAgentThatIsNotTrusted) {
  define_helper("touch " + (elsewhere_.path() / "executed").string());
  std::filesystem::create_directories(folder_.path() / ".skein");
  std::filesystem::copy_file(config_file(), folder_.path() / ".skein/config.json");
  const auto workspace = must(Workspace::open(folder()));
  const std::string thread = thread_of_helper(*workspace);
  const SummaryOutcome made = must(workspace->summarize(thread, {.request = kShort}));
  ASSERT_TRUE(made.summary);
  EXPECT_EQ(made.summary->model, "");
  EXPECT_THAT(made.note, testing::HasSubstr("not trusted"));
  EXPECT_FALSE(std::filesystem::exists(elsewhere_.path() / "executed"));
}

TEST_F(EmbeddedWorkspace, RemovesAThreadFromTheIndexToo) {
  for (const std::string& store : {"sqlite:" + folder() + "/a.db", std::string("memory:")}) {
    const auto workspace = must(Workspace::open(folder(), {.store = store}));
    const std::string thread = must(workspace->run("echo", "At the pier")).run.thread.str();
    must(workspace->backfill());
    EXPECT_TRUE(must(workspace->remove(thread)));
    EXPECT_FALSE(must(workspace->remove(thread)));
    EXPECT_FALSE(must(workspace->threads().get(thread)));
    EXPECT_THAT(must(workspace->search("pier")).results, IsEmpty());
    EXPECT_EQ(must(workspace->backfill()).cleaned, 0U) << store;
  }
}

TEST_F(EmbeddedWorkspace, RemovesAThreadFromAnIndexThatItDidNotOpen) {
  std::string thread;
  {
    const auto workspace = must(Workspace::open(folder()));
    thread = must(workspace->run("echo", "At the pier")).run.thread.str();
    must(workspace->backfill());
  }
  EXPECT_TRUE(must(must(Workspace::open(folder()))->remove(thread)));
  EXPECT_EQ(must(must(Workspace::open(folder()))->backfill()).cleaned, 0U);
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
