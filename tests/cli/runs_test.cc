// The commands about runs: run, chat, runs, usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "program.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class RunCommands : public OnEveryBackend {
 protected:
  void SetUp() override {
    workspace_.write("agents/slow/agent.json",
                     R"({"engine":"echo","options":{"delayMs":50,"repeat":1000}})");
    workspace_.write(
        "agents/careful/agent.json",
        R"({"engine":"echo","capabilities":{"builtin":["work_items"],"confirm":["*"]}})");
  }
  std::string only_thread() const {
    const Ran list = workspace_.run({"thread", "list", "--json"});
    return std::string(list.json().as_array().at(0).at("threadId").as_string());
  }
  std::string newest_run() const {
    const Ran list = workspace_.run({"runs", "list", "--json"});
    return std::string(list.json().as_array().at(0).at("runId").as_string());
  }
  std::string status_of(const std::string& run) const {
    return std::string(
        workspace_.run({"runs", "show", run, "--json"}).json().at("status").as_string());
  }
};
INSTANTIATE_ON_EVERY_BACKEND(RunCommands);

TEST_P(RunCommands, RunAnswersInANewThreadOrInOneThatIsNamed) {
  const Ran first = workspace_.run({"run", "echo", "Hello there"});
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_EQ(first.out, "Hello there\n");
  const std::string thread = only_thread();
  EXPECT_THAT(first.err, HasSubstr("thread " + thread));
  const Ran second = workspace_.run({"run", "echo", "--thread", thread}, "from\nstandard input\n");
  EXPECT_EQ(second.out, "from\nstandard input\n") << second;
  EXPECT_THAT(workspace_.texts(thread),
              ElementsAre("Hello there", "", "Hello there", "from\nstandard input", "",
                          "from\nstandard input"));
}

TEST_P(RunCommands, RunTellsProgramsWhatHappens) {
  const Ran json = workspace_.run({"run", "echo", "one two", "--json"});
  EXPECT_EQ(json.json().at("response").as_string(), "one two");
  EXPECT_EQ(json.json().at("status").as_string(), "success");
  const Ran lines = workspace_.run({"run", "echo", "one two", "--jsonl"});
  std::vector<std::string> events;
  for (const auto& line : lines.json_lines()) {
    events.emplace_back(line.at("event").as_string().c_str());
  }
  EXPECT_THAT(events, ElementsAre("start", "text", "text", "response", "end"));
}

TEST_P(RunCommands, RunSaysWhatWentWrongByItsExitCode) {
  const std::string thread = workspace_.create({"--agent", "echo"});
  EXPECT_EQ(workspace_.run({"run", "nobody", "hi"}).code, 3);
  EXPECT_EQ(workspace_.run({"run", "echo", "hi", "--thread", "000000000001"}).code, 3);
  EXPECT_EQ(workspace_.run({"run", "slow", "hi", "--thread", thread}).code, 4);
  EXPECT_EQ(workspace_.run({"run", "echo"}, "").code, 2);
  const Ran failed = workspace_.run({"run", "echo", "/fail on purpose", "--thread", thread});
  EXPECT_EQ(failed.code, 1) << failed;
  EXPECT_THAT(failed.err, HasSubstr("skein: on purpose"));
  EXPECT_THAT(workspace_.texts(thread), ElementsAre("/fail on purpose", "(error: on purpose)"));
  ASSERT_EQ(workspace_.run({"thread", "pause", thread}).code, 0);
  const Ran paused = workspace_.run({"run", "echo", "hi", "--thread", thread});
  EXPECT_EQ(paused.code, 4) << paused;
  EXPECT_THAT(paused.err, HasSubstr("paused"));
}

TEST_P(RunCommands, ATimeoutIsAnErrorOfItsOwn) {
  const Ran late = workspace_.run({"run", "slow", "word", "--timeout", "1"});
  EXPECT_EQ(late.code, 1) << late;
  EXPECT_EQ(status_of(newest_run()), "timeout");
}

TEST_P(RunCommands, CtrlCStopsTheRunAndTheThreadSaysSo) {
  Running running = workspace_.start({"run", "slow", "word\n", "--jsonl"});
  ASSERT_TRUE(running.read_line());
  ASSERT_TRUE(running.read_line());
  running.signal(SIGINT);
  const Ran ran = running.finish();
  EXPECT_EQ(ran.signal, SIGINT) << ran;  // a shell calls that 130
  EXPECT_THAT(workspace_.texts(only_thread()), ElementsAre("word\n", "(stopped by user)"));
  EXPECT_EQ(status_of(newest_run()), "interrupted");
}

TEST_P(RunCommands, ARunIsCancelledFromAnotherProcess) {
  Running running = workspace_.start({"run", "slow", "word", "--jsonl"});
  ASSERT_TRUE(running.read_line());
  ASSERT_TRUE(running.read_line());
  const std::string run = newest_run();
  EXPECT_EQ(status_of(run), "running");
  const Ran cancelled = workspace_.run({"runs", "cancel", run});
  EXPECT_EQ(cancelled.code, 0) << cancelled;
  EXPECT_EQ(cancelled.out, run + " interrupted\n");
  EXPECT_EQ(running.finish().code, 1);
  EXPECT_EQ(workspace_.run({"runs", "cancel", run}).code, 4);
  EXPECT_EQ(workspace_.run({"runs", "show", "0190163d-8694-7000-8000-0123456789ab"}).code, 3);
  EXPECT_EQ(workspace_.run({"runs", "show", "x"}).code, 2);
}

TEST_P(RunCommands, ARunOfAProcessThatWasKilledIsClosedByTheNext) {
  Running running = workspace_.start({"run", "slow", "word", "--jsonl"});
  ASSERT_TRUE(running.read_line());
  ASSERT_TRUE(running.read_line());
  running.signal(SIGKILL);
  running.finish();
  const std::string thread = only_thread();
  const Ran next = workspace_.run({"runs", "list", "--thread", thread});
  EXPECT_THAT(next.out, HasSubstr("interrupted"));
  EXPECT_THAT(next.err, HasSubstr("1 run(s) of a process that ended"));
  EXPECT_THAT(workspace_.texts(thread), ElementsAre("word"));
}

TEST_P(RunCommands, ChatGoesOnInOneThread) {
  const Ran chat = workspace_.run({"chat", "echo"}, "first\n\nsecond\n");
  EXPECT_EQ(chat.code, 0) << chat;
  EXPECT_EQ(chat.out, "first\nsecond\n");
  EXPECT_THAT(workspace_.texts(only_thread()),
              ElementsAre("first", "", "first", "second", "", "second"));
  EXPECT_EQ(workspace_.run({"chat", "nobody"}, "hi\n").code, 3);
}

TEST_P(RunCommands, ChatFailsAlongAndKeepsItsThread) {
  const Ran chat = workspace_.run({"chat", "echo"}, "/fail once\nthen\n");
  EXPECT_EQ(chat.code, 0) << chat;
  EXPECT_EQ(chat.out, "then\n");
  EXPECT_THAT(workspace_.texts(only_thread()),
              ElementsAre("/fail once", "(error: once)", "then", "", "then"));
}

// A person at a terminal: the byte that Ctrl-C sends becomes a signal there.
TEST_P(RunCommands, CtrlCInAChatStopsTheRunAndNotTheProgram) {
  Start start{.folder = workspace_.path(),
              .arguments = {"chat", "slow", "--store", workspace_.url(GetParam(), "store")},
              .environment = {"TERM=dumb"},
              .on_terminal = true};
  Running chat(start);
  chat.send("word\n");
  std::string seen;
  const auto read_until = [&](std::string_view text) {
    while (seen.find(text) == std::string::npos) {
      const auto more = chat.read_some_text();
      if (!more) return false;
      seen += *more;
    }
    seen.erase(0, seen.find(text) + text.size());
    return true;
  };
  ASSERT_TRUE(read_until("wordword")) << seen;
  chat.send("\x03");
  ASSERT_TRUE(read_until("(stopped)")) << seen;
  // As soon as there is a prompt it only forgets what was typed.
  ASSERT_TRUE(read_until("> ")) << seen;
  chat.send("half\x03");
  ASSERT_TRUE(read_until("> ")) << seen;
  chat.send("again\n");
  ASSERT_TRUE(read_until("againagain")) << seen;
  chat.send("\x03");
  ASSERT_TRUE(read_until("(stopped)")) << seen;
  chat.send("\x04");
  EXPECT_EQ(chat.finish_on_terminal().code, 0);
  EXPECT_THAT(workspace_.texts(only_thread()),
              ElementsAre("word", "(stopped by user)", "again", "(stopped by user)"));
}

TEST_P(RunCommands, UsageAddsUp) {
  ASSERT_EQ(workspace_.run({"run", "echo", "one two three"}).code, 0);
  const std::string thread = only_thread();
  ASSERT_EQ(workspace_.run({"run", "echo", "four", "--thread", thread}).code, 0);
  // A fork shares the past of its parent, which counts once.
  ASSERT_EQ(workspace_.run({"thread", "fork", thread}).code, 0);
  const Ran by_agent = workspace_.run({"usage", "--json"});
  EXPECT_EQ(by_agent.json().at("all").at("runs").as_int64(), 2);
  EXPECT_EQ(by_agent.json().at("rows").as_array().at(0).at("agent").as_string(), "echo");
  EXPECT_EQ(by_agent.json().at("all").at("outputTokens").as_int64(), 4);
  const Ran by_model = workspace_.run({"usage", "--by", "model"});
  EXPECT_THAT(by_model.out, StartsWith("MODEL"));
  EXPECT_THAT(by_model.out, HasSubstr("echo"));
  EXPECT_EQ(workspace_.run({"usage", "--by", "day", "--since", "2100-01-01", "--json"})
                .json()
                .at("rows")
                .as_array()
                .size(),
            0U);
  ASSERT_EQ(workspace_.run({"thread", "delete", thread, "--yes"}).code, 0);
  EXPECT_THAT(workspace_.run({"usage", "--by", "thread"}).out, HasSubstr(thread + " (gone)"));
}

TEST(UsageRecords, LieInTheFileThatOtherProgramsKnow) {
  const Workspace workspace("jsonl");
  ASSERT_EQ(workspace.run({"run", "echo", "one two"}).code, 0);
  const std::string line = workspace.read("store/usage.jsonl");
  for (const char* field : {"timestamp", "agentId", "threadId", "inputTokens", "outputTokens",
                            "cacheReadTokens", "costUsd", "durationMs", "turns"}) {
    EXPECT_THAT(line, HasSubstr("\"" + std::string(field) + "\":"));
  }
}

}  // namespace
}  // namespace skein::test
