// On a terminal, commands that start agents ask about what is not trusted, right there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AskingForTrust : public testing::Test {
 protected:
  // An agent whose engine leaves a mark.
  void write_agent() const {
    workspace_.write("engine.sh", "#!/bin/sh\ntouch ran\n");
    fs::permissions(workspace_.path() / "engine.sh", fs::perms::owner_all);
    workspace_.write("agents/helper/agent.json",
                     R"({"engine":"claude-code","options":{"program":"./engine.sh"}})");
  }
  void write_config(const char* json) const { workspace_.write(".skein/config.json", json); }
  bool exists(const char* name) const { return fs::exists(workspace_.path() / name); }
  bool is_all_trusted() const {
    return workspace_.run({"trust", "--print"}).out.find("nothing needs trust") !=
           std::string::npos;
  }
  // What the server says on the terminal until it serves, or until it ends.
  std::string serve(std::string_view answers) const {
    Start start = {.folder = workspace_.path(), .arguments = {"serve", "--port", "0"}};
    start.on_terminal = true;
    Running server(start);
    server.send(answers);
    std::string said;
    while (const auto line = server.read_line()) {
      said += *line + "\n";
      if (line->find("Stop it with Ctrl-C") != std::string::npos) server.signal(SIGTERM);
    }
    server.finish_on_terminal();
    return said;
  }

  const Workspace workspace_;
};

TEST_F(AskingForTrust, ChatAsksOnATerminal) {
  write_agent();
  const Ran no = workspace_.run_on_terminal({"chat", "helper"}, "n\nhi\n\x04");
  EXPECT_EQ(no.code, 1) << no;
  EXPECT_THAT(no.out, AllOf(HasSubstr("runs the program"), HasSubstr("is not trusted")));
  EXPECT_FALSE(exists("ran"));
  const Ran yes = workspace_.run_on_terminal({"chat", "helper"}, "y\nhi\n\x04");
  EXPECT_TRUE(exists("ran")) << yes;
  const Ran again = workspace_.run_on_terminal({"chat", "helper"}, "hi\n\x04");
  EXPECT_THAT(again.out, Not(HasSubstr("Trust them?")));
}

TEST_F(AskingForTrust, ServeAsksOnATerminal) {
  write_agent();
  EXPECT_THAT(serve("n\n"), AllOf(HasSubstr("Trust them?"), HasSubstr("not trusted and inactive"),
                                  HasSubstr("Stop it with Ctrl-C")));
  EXPECT_FALSE(is_all_trusted());
  EXPECT_THAT(serve("y\n"), AllOf(HasSubstr("Trust them?"), Not(HasSubstr("inactive")),
                                  HasSubstr("Stop it with Ctrl-C")));
  EXPECT_TRUE(is_all_trusted());
}

TEST_F(AskingForTrust, ServeAsksAboutTheRecordsOfAStoreThatWasJustTrusted) {
  const std::string store = "jsonl:" + (workspace_.path() / "conversations").string();
  ASSERT_EQ(workspace_.run({"key", "create", "--access", "admin", "--store", store}).code, 0);
  // What somebody else signed.
  fs::remove(fs::path(std::getenv("XDG_CONFIG_HOME")) / "skein" / "secret");
  write_config(R"({"store":"jsonl:conversations"})");
  EXPECT_THAT(serve("n\n"), HasSubstr("is not trusted; run"));
  EXPECT_THAT(serve("y\ny\n"), AllOf(HasSubstr("config:store"), HasSubstr("API key"),
                                     HasSubstr("Stop it with Ctrl-C")));
  EXPECT_TRUE(is_all_trusted());
}

TEST_F(AskingForTrust, RunAsksAboutAnUntrustedStore) {
  write_config(R"({"store":"jsonl:conversations"})");
  const Ran no = workspace_.run_on_terminal({"run", "echo", "hi"}, "n\n");
  EXPECT_EQ(no.code, 1) << no;
  EXPECT_THAT(no.out, AllOf(HasSubstr("config:store"), HasSubstr("is not trusted")));
  EXPECT_FALSE(exists("conversations"));
  EXPECT_FALSE(exists(".skein/skein.db"));
  // Another store that is named makes the question needless.
  const Ran named = workspace_.run_on_terminal({"--store", "memory:", "run", "echo", "hi"});
  EXPECT_EQ(named.code, 0) << named;
  EXPECT_THAT(named.out, Not(HasSubstr("Trust them?")));
  const Ran yes = workspace_.run_on_terminal({"run", "echo", "hi"}, "y\n");
  EXPECT_EQ(yes.code, 0) << yes;
  EXPECT_TRUE(exists("conversations"));
}

TEST_F(AskingForTrust, ChatAsksAboutAnUntrustedStore) {
  write_config(R"({"store":"jsonl:conversations"})");
  EXPECT_EQ(workspace_.run_on_terminal({"chat", "echo"}, "n\nhi\n\x04").code, 1);
  EXPECT_FALSE(exists("conversations"));
  const Ran yes = workspace_.run_on_terminal({"chat", "echo"}, "y\nhi\n\x04");
  EXPECT_EQ(yes.code, 0) << yes;
  EXPECT_TRUE(exists("conversations"));
}

TEST_F(AskingForTrust, RunAsksAboutTheEmbedderAndTheRulesOfRedaction) {
  write_config(R"({"embedder":"none","redact":{"pin":"PIN [0-9]+"}})");
  const Ran no = workspace_.run_on_terminal({"run", "echo", "hi"}, "n\n");
  EXPECT_EQ(no.code, 0) << no;
  EXPECT_THAT(no.out, AllOf(HasSubstr("config:embedder"), HasSubstr("config:redact"),
                            HasSubstr("not trusted")));
  EXPECT_FALSE(is_all_trusted());
  EXPECT_EQ(workspace_.run_on_terminal({"run", "echo", "hi"}, "y\n").code, 0);
  EXPECT_TRUE(is_all_trusted());
}

TEST_F(AskingForTrust, RunAsksAboutNoOtherAgent) {
  write_agent();
  const Ran ran = workspace_.run_on_terminal({"run", "echo", "hi"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, Not(HasSubstr("Trust them?")));
}

}  // namespace
}  // namespace skein::test
