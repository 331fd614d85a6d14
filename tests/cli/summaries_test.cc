// skein thread summarize with and without an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An agent whose engine is a script that stands for Claude Code.
class Summaries : public testing::Test {
 protected:
  void write_engine(const std::string& script) const {
    workspace_.write("answer.sh", script);
    workspace_.write("engine.sh", "#!/bin/sh\n. ./answer.sh\n");
    fs::permissions(workspace_.path() / "engine.sh", fs::perms::owner_all);
    workspace_.write("agents/helper/agent.json",
                     R"({"engine":"claude-code","options":{"program":"./engine.sh"}})");
  }
  void write_answering_engine() const {
    write_engine(
        "cat > prompt\n"
        R"(echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-x"}')"
        "\n"
        R"(echo '{"type":"result","subtype":"success","result":"Ports were chosen."}')"
        "\n");
  }
  std::string thread_with_messages() const {
    std::string thread = workspace_.create({"--agent", "helper"});
    for (int i = 0; i < 6; ++i) {
      workspace_.append(thread, "We decided to use port " + std::to_string(7000 + i) + ".");
    }
    return thread;
  }
  Ran summarize(const std::string& thread, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"thread", "summarize",     thread, "--threshold",
                                      "2",      "--keep-recent", "1",    "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return workspace_.run(words);
  }

  Workspace workspace_;
};

TEST_F(Summaries, ComeFromTheEngineOfATrustedAgent) {
  write_answering_engine();
  workspace_.trust();
  const Ran ran = summarize(thread_with_messages());
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("text").as_string(), "Ports were chosen.");
  EXPECT_EQ(ran.json().at("by").as_string(), "engine");
  EXPECT_EQ(ran.json().at("model").as_string(), "claude-x");
  EXPECT_THAT(workspace_.read("prompt"), HasSubstr("> We decided to use port 7000."));
}

TEST_F(Summaries, ExecuteNothingOfAnAgentThatIsNotTrusted) {
  write_answering_engine();
  const Ran ran = summarize(thread_with_messages());
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_FALSE(fs::exists(workspace_.path() / "prompt"));
  EXPECT_EQ(ran.json().at("by").as_string(), "extraction");
  EXPECT_THAT(std::string(ran.json().at("note").as_string()), HasSubstr("not trusted"));
  EXPECT_THAT(ran.err, HasSubstr("the thread's own sentences"));
}

TEST_F(Summaries, AreExtractedWhereThatIsAskedForOrTheEngineFails) {
  write_answering_engine();
  workspace_.trust();
  const Ran asked = summarize(thread_with_messages(), {"--extract"});
  EXPECT_EQ(asked.json().at("by").as_string(), "extraction") << asked;
  EXPECT_THAT(asked.err, IsEmpty());
  EXPECT_FALSE(fs::exists(workspace_.path() / "prompt"));
  write_engine("echo 'no license' >&2; exit 7\n");
  const Ran failed = summarize(thread_with_messages());
  EXPECT_EQ(failed.code, 0) << failed;
  EXPECT_EQ(failed.json().at("by").as_string(), "extraction");
  EXPECT_THAT(failed.err, HasSubstr("no license"));
}

TEST_F(Summaries, CountInTheUsage) {
  const std::string init =
      R"(echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-x"}')"
      "\n";
  const std::string spent =
      R"("total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":7}})";
  write_engine("cat > prompt\n" + init +
               R"(echo '{"type":"result","subtype":"success","result":"Ports were chosen.",)" +
               spent + "'\n");
  workspace_.trust();
  const std::string thread = thread_with_messages();
  EXPECT_EQ(summarize(thread).json().at("by").as_string(), "engine");
  // The engine is paid for what it refuses, too.
  write_engine("cat > prompt\n" + init +
               R"(echo '{"type":"result","subtype":"error_max_turns","is_error":true,)" + spent +
               "'\n");
  EXPECT_EQ(summarize(thread_with_messages()).json().at("by").as_string(), "extraction");
  const auto usage = workspace_.run({"usage", "--by", "model", "--json"}).json();
  EXPECT_EQ(usage.at_pointer("/rows/0/model").as_string(), "claude-x");
  EXPECT_EQ(usage.at_pointer("/all/costUsd").to_number<double>(), 0.5);
  EXPECT_EQ(usage.at_pointer("/all/outputTokens").as_int64(), 14);
  EXPECT_EQ(usage.at_pointer("/all/runs").as_int64(), 0);
  const auto by_thread = workspace_.run({"usage", "--by", "thread", "--json"}).json();
  EXPECT_EQ(by_thread.at("rows").as_array().size(), 2U);
}

TEST_F(Summaries, AreStoppedByCtrlCAndWriteNothing) {
  ASSERT_EQ(::mkfifo((workspace_.path() / "started").c_str(), 0600), 0);
  write_engine("echo > started\nexec sleep 1000\n");
  workspace_.trust();
  const std::string thread = thread_with_messages();
  Running running =
      workspace_.start({"thread", "summarize", thread, "--threshold", "2", "--keep-recent", "1"});
  EXPECT_THAT(workspace_.read("started"), Not(IsEmpty()));  // until the engine is at work
  running.signal(SIGINT);
  const Ran ran = running.finish();
  EXPECT_EQ(ran.signal, SIGINT) << ran;
  EXPECT_EQ(workspace_.events(thread).size(), 6U);
}

TEST_F(Summaries, ShowABarOnATerminal) {
  write_answering_engine();
  workspace_.trust();
  const std::vector<std::string> words = {
      "thread", "summarize", thread_with_messages(), "--threshold", "2", "--keep-recent", "1"};
  const Ran shown = workspace_.run_on_terminal(words);
  EXPECT_EQ(shown.code, 0) << shown;
  // Before the engine has answered anything; and it does not stay.
  const std::string bar = "\rsummarising [" + std::string(30, ' ') + "] 0/5";
  const std::size_t at = shown.out.find(bar);
  ASSERT_NE(at, std::string::npos) << shown;
  EXPECT_THAT(shown.out.substr(at), HasSubstr("\r\x1b[K"));
  EXPECT_GT(shown.out.find("Ports were chosen."), shown.out.rfind("\r\x1b[K"));
  EXPECT_THAT(summarize(thread_with_messages()).err, Not(HasSubstr("summarising")));
}

TEST_F(Summaries, SayInTheHelpWhoWritesThem) {
  EXPECT_THAT(workspace_.run({"thread", "summarize", "--help"}).out,
              AllOf(HasSubstr("--extract"), HasSubstr("trusted"), HasSubstr("Ctrl-C")));
}

}  // namespace
}  // namespace skein::test
