// Runs that fail: exit codes, sessions of engines, and what `allow` names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// An agent whose engine is a script that stands for Claude Code.
class RunFailures : public testing::Test {
 protected:
  void write_engine(const std::string& script) const {
    workspace_.write("engine.sh", "#!/bin/sh\ncat > /dev/null\n" + script);
    fs::permissions(workspace_.path() / "engine.sh", fs::perms::owner_all);
    workspace_.write("agents/helper/agent.json",
                     R"({"engine":"claude-code","options":{"program":"./engine.sh"}})");
    workspace_.trust();
  }
  static std::string print(const std::string& line) { return "echo '" + line + "'\n"; }
  static std::string failing(int status) {
    return print(R"({"type":"result","subtype":"success","is_error":true,"api_error_status":)" +
                 std::to_string(status) + R"(,"result":"the provider said no"})");
  }

  Workspace workspace_;
};

TEST_F(RunFailures, AreExitCode1WhateverTheProviderAnswered) {
  for (const int status : {400, 404, 429, 500}) {
    write_engine(failing(status));
    for (const std::vector<std::string>& form :
         std::vector<std::vector<std::string>>{{"run", "helper", "hi"},
                                               {"run", "helper", "hi", "--json"},
                                               {"run", "helper", "hi", "--jsonl"},
                                               {"task", "create", "helper", "hi"}}) {
      const Ran ran = workspace_.run(form);
      EXPECT_EQ(ran.code, 1) << status << " " << form.front() << "\n" << ran;
      EXPECT_THAT(ran.err, HasSubstr("the provider said no"));
    }
    EXPECT_EQ(workspace_.run({"chat", "helper"}, "hi\n").code, 1) << status;
  }
  EXPECT_EQ(workspace_.run({"run", "nobody", "hi"}).code, 3);
  EXPECT_EQ(workspace_.run({"run", "helper", "hi", "--thread", "0123456789ab"}).code, 3);
  const std::string other = workspace_.create({"--agent", "other"});
  EXPECT_EQ(workspace_.run({"run", "helper", "hi", "--thread", other}).code, 4);
}

TEST_F(RunFailures, OfAProgramThatIsMissingAreExitCode1) {
  workspace_.write("agents/helper/agent.json",
                   R"({"engine":"claude-code","options":{"program":"/nowhere/claude"}})");
  workspace_.trust();
  const Ran ran = workspace_.run({"run", "helper", "hi"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, HasSubstr("/nowhere/claude"));
}

TEST_F(RunFailures, TellTheirExitCodesInTheHelp) {
  EXPECT_THAT(workspace_.run({"--help"}).out, HasSubstr("130 ended by Ctrl-C"));
  EXPECT_THAT(workspace_.run({"run", "--help"}).out,
              AllOf(HasSubstr("whatever the provider"), HasSubstr("130: Ctrl-C")));
}

TEST_F(RunFailures, CountInTheUsage) {
  write_engine(print(R"({"type":"result","subtype":"error_max_turns","is_error":true,)"
                     R"("num_turns":3,"total_cost_usd":0.25,)"
                     R"("usage":{"input_tokens":10,"output_tokens":7}})"));
  EXPECT_EQ(workspace_.run({"run", "helper", "hi"}).code, 1);
  const Ran usage = workspace_.run({"usage", "--json"});
  EXPECT_THAT(usage.out, AllOf(HasSubstr("\"costUsd\":0.25"), HasSubstr("\"outputTokens\":7")));
}

TEST_F(RunFailures, ClearSessionLetsTheNextRunStartANewSession) {
  write_engine("echo \"$@\" > words\n" +
               print(R"({"type":"result","subtype":"success","result":"Fine.",)"
                     R"("session_id":"0b8f2c1e-5a77-4d0e-9a35-6f1d2c3b4a59"})"));
  const Ran first = workspace_.run({"run", "helper", "hi", "--json"});
  const std::string thread(first.json().at("threadId").as_string());
  workspace_.run({"run", "helper", "--thread", thread, "again"});
  EXPECT_THAT(workspace_.read("words"), HasSubstr("--resume=0b8f2c1e"));
  const Ran cleared = workspace_.run({"thread", "update", thread, "--clear-session", "--json"});
  EXPECT_EQ(cleared.code, 0) << cleared;
  EXPECT_THAT(cleared.out, Not(HasSubstr("sessionId")));
  workspace_.run({"run", "helper", "--thread", thread, "and again"});
  EXPECT_THAT(workspace_.read("words"), Not(HasSubstr("--resume")));
  EXPECT_EQ(workspace_.run({"thread", "update", thread}).code, 2);
}

TEST_F(RunFailures, AgentCheckRejectsNamesInAllowThatNoToolCanHave) {
  workspace_.write("agents/typo/agent.json", R"({"engine":"echo","capabilities":{
      "builtin":["recall"],
      "mcpServers":{"files":{"command":["files"]}},
      "allow":["recal","recall","files__*","file__read","*","rec*","rec_*","ask_agent"]}})");
  const Ran ran = workspace_.run({"agent", "check", "typo"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("capabilities.allow"), HasSubstr("\"recal\""),
                             HasSubstr("\"file__read\""), HasSubstr("\"rec_*\"")));
  EXPECT_THAT(ran.out, Not(HasSubstr("has \"files__*\"")));
  EXPECT_THAT(ran.out, Not(HasSubstr("has \"rec*\"")));
}

// --- Index ---

class RunIndex : public OnEveryBackend {};
INSTANTIATE_ON_EVERY_BACKEND(RunIndex);

TEST_P(RunIndex, HasTheMessagesOfARunBeforeTheFirstBackfillWhereThereIsAModel) {
  ASSERT_EQ(workspace_.run({"config", "set", "embedder", "bge-small"}).code, 0);
  const Ran ran = workspace_.run({"run", "echo", "A raven sits on the fence"});
  EXPECT_EQ(ran.code, 0) << ran;
  const Ran found = workspace_.run({"search", "raven", "--json"});
  EXPECT_EQ(found.json().at("results").as_array().size(), 1U) << found;
  EXPECT_EQ(found.json().at("notIndexed").as_int64(), 0) << found;
  EXPECT_EQ(found.json().at("withoutVector").as_int64(), 0) << found;
}

TEST_P(RunIndex, IsNotMadeByARunWithoutAModel) {
  ASSERT_EQ(workspace_.run({"config", "set", "embedder", "none"}).code, 0);
  workspace_.run({"run", "echo", "A raven sits on the fence"});
  const Ran found = workspace_.run({"search", "raven", "--json"});
  EXPECT_EQ(found.json().at("results").as_array().size(), 0U) << found;
}

}  // namespace
}  // namespace skein::test
