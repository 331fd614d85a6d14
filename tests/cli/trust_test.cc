// What a workspace may do before and after its user trusts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>

#include "program.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An agent whose engine is a program in the workspace. The program leaves a mark when it runs.
class TrustCommand : public testing::Test {
 protected:
  TrustCommand() {
    write_program("touch ran\n");
    write_agent("helper", "./engine.sh");
  }

  void write_program(const std::string& script) const {
    workspace_.write("engine.sh", "#!/bin/sh\n" + script);
    fs::permissions(workspace_.path() / "engine.sh", fs::perms::owner_all);
  }
  void write_agent(const std::string& id, const std::string& program) const {
    workspace_.write("agents/" + id + "/agent.json",
                     R"({"engine":"claude-code","options":{"program":")" + program + R"("}})");
  }

  // Whether running the agent executes the program.
  bool executes(const std::string& agent = "helper") const {
    fs::remove(workspace_.path() / "ran");
    last_ = workspace_.run({"run", agent, "hi"});
    return fs::exists(workspace_.path() / "ran");
  }
  std::string digest() const {
    const Ran ran = workspace_.run({"trust", "--print", "--json"});
    EXPECT_EQ(ran.code, 0) << ran;
    return std::string(ran.json().at("digest").as_string());
  }
  void trust() const {
    const Ran ran = workspace_.run({"trust", "--trust", digest()});
    EXPECT_EQ(ran.code, 0) << ran;
  }

  Workspace workspace_;
  mutable Ran last_;
};

TEST_F(TrustCommand, NamesAgentsThatNeedTrustWhereTheyAreCountedAndScheduled) {
  EXPECT_THAT(workspace_.run({"doctor", "--setup"}).out, HasSubstr("1 can be run, 1 need trust"));
  const std::vector<std::string> add{"trigger", "add", "helper", "@daily", "hi"};
  EXPECT_THAT(workspace_.run(add).err, HasSubstr("until the agent is trusted"));
  workspace_.trust();
  EXPECT_THAT(workspace_.run(add).err, Not(HasSubstr("until the agent is trusted")));
}

TEST_F(TrustCommand, ExecutesNothingBeforeTrust) {
  EXPECT_FALSE(executes());
  EXPECT_EQ(last_.code, 1) << last_;
  EXPECT_THAT(last_.err, AllOf(HasSubstr("agent \"helper\" is not trusted"),
                               HasSubstr("agents/helper/agent.json"), HasSubstr("skein trust")));
}

TEST_F(TrustCommand, PrintsWhatWouldBeAllowed) {
  const Ran ran = workspace_.run({"trust", "--print"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("agent:helper (new"), HasSubstr("file:engine.sh (new"),
                             HasSubstr("runs the program \"./engine.sh\""), HasSubstr("digest ")));
  EXPECT_FALSE(executes()) << "printing must trust nothing";
}

TEST_F(TrustCommand, TrustsByDigest) {
  trust();
  EXPECT_TRUE(executes()) << last_;
  const Ran again = workspace_.run({"trust"});
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_THAT(again.out, HasSubstr("nothing needs trust"));
}

TEST_F(TrustCommand, TrustsByDigestFromTheEnvironment) {
  const std::string wanted = digest();
  const Ran ran = workspace_.shell("SKEIN_TRUST=" + wanted + " skein run helper hi; test -e ran");
  EXPECT_EQ(ran.code, 0) << ran;
}

TEST_F(TrustCommand, RefusesAnotherDigest) {
  const Ran ran = workspace_.run({"trust", "--trust", std::string(64, 'a')});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, HasSubstr("skein trust --trust="));
  EXPECT_FALSE(executes());
}

TEST_F(TrustCommand, RefusesAnotherDigestWhereNothingWaits) {
  trust();
  EXPECT_EQ(workspace_.run({"trust", "--trust", digest()}).code, 0);
  const Ran ran = workspace_.run({"trust", "--trust", std::string(64, 'a')});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("--trust is \"aaaa"), HasSubstr(digest()),
                             HasSubstr("nothing in it needs trust")));
}

TEST_F(TrustCommand, RefusesAnotherDigestOnATerminal) {
  const Ran ran = workspace_.run_on_terminal({"trust", "--trust", std::string(64, 'a')}, "y\n");
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_FALSE(executes());
}

TEST_F(TrustCommand, SuggestedCommandReviewsTheSameStore) {
  const TempDir elsewhere;
  const fs::path config = elsewhere.path() / "my config.json";
  std::ofstream(config) << R"({"defaultAgent":"helper"})";
  ASSERT_EQ(workspace_.shell("skein --store sqlite:s.db key create --access admin").code, 0);
  fs::remove(fs::path(std::getenv("XDG_CONFIG_HOME")) / "skein" / "secret");  // no more signed
  const Ran ran = workspace_.run(
      {"--store", "sqlite:s.db", "--config", config.string(), "--start-dir", ".", "trust"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.out, HasSubstr("API key"));
  const std::size_t begin = ran.err.find("run \"") + 5;
  const std::string command = ran.err.substr(begin, ran.err.rfind('"') - begin);
  EXPECT_THAT(command, testing::StartsWith("skein --store 'sqlite:s.db' --start-dir . --config '" +
                                           config.string() + "' trust --trust="));
  EXPECT_EQ(workspace_.shell(command).code, 0);
  EXPECT_THAT(workspace_.run({"--store", "sqlite:s.db", "trust"}).out,
              HasSubstr("nothing needs trust"));
}

TEST_F(TrustCommand, NeverSaysYesByItself) {
  const Ran ran = workspace_.run({"trust"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, HasSubstr("skein trust --trust="));
  EXPECT_FALSE(executes());
}

TEST_F(TrustCommand, AsksOnATerminal) {
  EXPECT_EQ(workspace_.run_on_terminal({"trust"}, "n\n").code, 1);
  EXPECT_FALSE(executes());
  const Ran yes = workspace_.run_on_terminal({"trust"}, "y\n");
  EXPECT_EQ(yes.code, 0) << yes;
  EXPECT_TRUE(executes()) << last_;
}

TEST_F(TrustCommand, RunAsksOnATerminal) {
  const Ran no = workspace_.run_on_terminal({"run", "helper", "hi"}, "n\n");
  EXPECT_THAT(no.out, HasSubstr("runs the program")) << no;
  EXPECT_FALSE(fs::exists(workspace_.path() / "ran"));
  workspace_.run_on_terminal({"run", "helper", "hi"}, "y\n");
  EXPECT_TRUE(fs::exists(workspace_.path() / "ran"));
}

TEST_F(TrustCommand, ChangedDefinitionIsInactiveAlone) {
  write_agent("other", "./engine.sh");
  trust();
  EXPECT_TRUE(executes("other")) << last_;
  workspace_.write("agents/helper/agent.json",
                   R"({"engine":"claude-code","model":"x","options":{"program":"./engine.sh"}})");
  EXPECT_FALSE(executes("helper"));
  EXPECT_THAT(last_.err, HasSubstr("changed since it was trusted"));
  EXPECT_TRUE(executes("other")) << last_;
}

TEST_F(TrustCommand, ChangedProgramIsInactive) {
  trust();
  write_program("touch ran # and more\n");
  EXPECT_FALSE(executes());
  EXPECT_THAT(last_.err, AllOf(HasSubstr("engine.sh"), HasSubstr("changed since")));
}

TEST_F(TrustCommand, ProgramThatAppearsLaterIsInactive) {
  fs::remove(workspace_.path() / "engine.sh");
  trust();
  write_program("touch ran\n");
  EXPECT_FALSE(executes());
}

TEST_F(TrustCommand, HooksOfClaudeCodeBelongToItsAgent) {
  trust();
  workspace_.write(".claude/settings.json", R"({"hooks":{}})");
  EXPECT_FALSE(executes());
  EXPECT_THAT(last_.err, HasSubstr(".claude/settings.json"));
  trust();
  EXPECT_TRUE(executes()) << last_;
}

TEST_F(TrustCommand, ShowsADiffOfWhatIsAllowed) {
  trust();
  write_agent("helper", "./other.sh");
  const Ran ran = workspace_.run({"trust", "--print"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("agent:helper (changed"),
                             HasSubstr("- runs the program \"./engine.sh\""),
                             HasSubstr("+ runs the program \"./other.sh\"")));
}

TEST_F(TrustCommand, FileInTheEnvironmentOfTheEngineIsCovered) {
  workspace_.write("agents/helper/agent.json", R"({"engine":"claude-code","options":
      {"program":"./engine.sh","environment":{"BASH_ENV":"./env.sh"}}})");
  workspace_.write("env.sh", "true\n");
  trust();
  EXPECT_TRUE(executes()) << last_;
  workspace_.write("env.sh", "touch more\n");
  EXPECT_FALSE(executes());
  EXPECT_THAT(last_.err, HasSubstr("env.sh"));
}

TEST_F(TrustCommand, ProgramThatIsTooLargeIsRefused) {
  write_agent("helper", "./endless");
  std::ofstream(workspace_.path() / "endless");
  fs::resize_file(workspace_.path() / "endless", std::uintmax_t{1} << 40);
  EXPECT_THAT(workspace_.run({"trust", "--print"}).out,
              AllOf(HasSubstr("agent \"helper\" cannot be trusted"),
                    HasSubstr("/endless\", which is too large")));
  EXPECT_FALSE(executes());
}

TEST_F(TrustCommand, ShowsBoundsThatGo) {
  const std::string before = R"({"engine":"openai","model":"a","titleModel":"b",
      "limits":{"costUsd":1,"turns":3},"capabilities":{"allow":["fs__read*"],"confirm":["fs__*"],
      "mcpServers":{"fs":{"command":"/bin/true"}}}})";
  workspace_.write("agents/bound/agent.json", before);
  trust();
  workspace_.write("agents/bound/agent.json", R"({"engine":"openai","model":"c",
      "capabilities":{"mcpServers":{"fs":{"command":"/bin/true"}}}})");
  const Ran ran = workspace_.run({"trust", "--print"});
  for (const char* line :
       {"- may call only the tools \"fs__read*\"", "- asks a person before it calls the tools",
        "- a run is limited to 3 turns, 1 USD", "+ a run is limited to 50 turns",
        "- uses the model \"a\"", "+ uses the model \"c\"", "- makes titles with the model"}) {
    EXPECT_THAT(ran.out, HasSubstr(line));
  }
}

TEST_F(TrustCommand, FolderThatBecomesALinkOutsideIsInactive) {
  const TempDir elsewhere;
  const auto write_engine = [](const fs::path& folder) {
    std::ofstream(folder / "run.sh") << "#!/bin/sh\ntrue\n";
    fs::permissions(folder / "run.sh", fs::perms::owner_all);
  };
  fs::create_directory(workspace_.path() / "work");
  write_engine(workspace_.path() / "work");
  write_engine(elsewhere.path());
  workspace_.write("agents/helper/agent.json",
                   R"({"engine":"claude-code","folder":"work","options":{"program":"./run.sh"}})");
  trust();
  fs::remove_all(workspace_.path() / "work");
  fs::create_directory_symlink(elsewhere.path(), workspace_.path() / "work");
  executes();
  EXPECT_THAT(last_.err, HasSubstr("changed since it was trusted"));
  const Ran ran = workspace_.run({"trust", "--print"});
  EXPECT_THAT(ran.out, HasSubstr("+ works in the folder \"" + elsewhere.path().string()));
}

TEST_F(TrustCommand, RevokeTakesEffect) {
  trust();
  EXPECT_THAT(workspace_.run({"trust", "list"}).out, HasSubstr("agent:helper"));
  EXPECT_EQ(workspace_.run({"trust", "revoke"}).code, 0);
  EXPECT_FALSE(executes());
  EXPECT_EQ(workspace_.run({"trust", "revoke"}).code, 3);
}

TEST_F(TrustCommand, CopyOfAWorkspaceIsNotTrusted) {
  trust();
  const TempDir elsewhere;
  fs::copy(workspace_.path(), elsewhere.path() / "copy", fs::copy_options::recursive);
  const Ran ran =
      Running({.folder = elsewhere.path() / "copy", .arguments = {"run", "helper", "x"}}).finish();
  EXPECT_THAT(ran.err, HasSubstr("is not trusted")) << ran;
}

TEST_F(TrustCommand, RefusesATrustFileThatOthersCanWrite) {
  trust();
  const fs::path file = fs::path(std::getenv("XDG_CONFIG_HOME")) / "skein" / "trust.json";
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(executes());
  EXPECT_THAT(last_.err, AllOf(HasSubstr("trust.json"), HasSubstr("can be written by others")));
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(TrustCommand, RefusesATrustFileThatIsALink) {
  trust();
  const fs::path file = fs::path(std::getenv("XDG_CONFIG_HOME")) / "skein" / "trust.json";
  const fs::path real = file.parent_path() / "real.json";
  fs::rename(file, real);
  fs::create_symlink(real, file);
  EXPECT_FALSE(executes());
  EXPECT_THAT(last_.err, AllOf(HasSubstr("trust.json"), HasSubstr("is a symbolic link")));
  fs::rename(real, file);
  EXPECT_TRUE(executes()) << last_;
}

TEST_F(TrustCommand, TrustFileIsPrivate) {
  trust();
  struct stat status{};
  const fs::path file = fs::path(std::getenv("XDG_CONFIG_HOME")) / "skein" / "trust.json";
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(TrustCommand, EchoNeedsNoTrust) {
  workspace_.write("agents/parrot/agent.json", R"({"engine":"echo","options":{"repeat":2}})");
  const Ran ran = workspace_.run({"run", "parrot", "hi"});
  EXPECT_EQ(ran.code, 0) << ran;
}

TEST_F(TrustCommand, EchoRunsWithoutUntrustedServers) {
  workspace_.write(
      "agents/parrot/agent.json",
      R"({"engine":"echo","capabilities":{"mcpServers":{"x":{"command":"./engine.sh"}}}})");
  const Ran ran = workspace_.run({"run", "parrot", "hi"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("hi"));
  EXPECT_THAT(ran.err, HasSubstr("without MCP servers"));
  EXPECT_FALSE(fs::exists(workspace_.path() / "ran"));
}

TEST_F(TrustCommand, ConfigFileThatIsNamedCountsAsAFlag) {
  const TempDir elsewhere;
  const fs::path file = elsewhere.path() / "config.json";
  workspace_.shell(
      "printf '%s' '{\"agents\":{\"named\":{\"engine\":\"claude-code\",\"options\":"
      "{\"program\":\"touch\"}}}}' > " +
      file.string());
  const Ran ran = workspace_.run({"--config", file.string(), "run", "named", "hi"});
  EXPECT_THAT(ran.err, Not(HasSubstr("not trusted"))) << ran;
}

TEST_F(TrustCommand, NoticesNeverGoToStandardOutput) {
  workspace_.write(".skein/config.json", R"({"embedder":"none","server":{"port":1}})");
  const Ran ran = workspace_.run({"thread", "list", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.out, "[]\n");
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("\"embedder\" is not trusted"), HasSubstr("\"server\" has no")));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
}

TEST_F(TrustCommand, NewAgentOfClaudeCodeDoesNotTrustHooksOfTheFolder) {
  workspace_.write(".claude/settings.json", R"({"hooks":{}})");
  const Ran added = workspace_.run(
      {"agent", "add", "coder", "--engine", "claude-code", "--option", "program=./engine.sh"});
  EXPECT_EQ(added.code, 0) << added;
  EXPECT_FALSE(executes("coder"));
  EXPECT_THAT(last_.err, HasSubstr(".claude/settings.json"));
}

TEST_F(TrustCommand, InstallingHooksAndServersKeepsAgentsTrusted) {
  ASSERT_EQ(workspace_
                .run({"agent", "add", "coder", "--engine", "claude-code", "--option",
                      "program=./engine.sh"})
                .code,
            0);
  ASSERT_TRUE(executes("coder")) << last_;
  for (const char* install : {"skein hook install --yes", "skein mcp install claude-code --yes"}) {
    const Ran ran = workspace_.shell(install);
    ASSERT_EQ(ran.code, 0) << ran;
    EXPECT_TRUE(executes("coder")) << install << last_;
  }
  EXPECT_FALSE(executes("helper")) << "the others stay as they were";
  // Over a file that is trusted, too.
  workspace_.write(".mcp.json", R"({"mcpServers":{"other":{"command":"true"}}})");
  EXPECT_FALSE(executes("coder"));
  trust();
  ASSERT_EQ(workspace_.run({"mcp", "install", "claude-code", "--yes"}).code, 0);
  EXPECT_THAT(workspace_.read(".mcp.json"), AllOf(HasSubstr("other"), HasSubstr("skein")));
  EXPECT_TRUE(executes("coder")) << last_;
}

TEST_F(TrustCommand, InstallingOverAFileOfTheFolderDoesNotTrustIt) {
  ASSERT_EQ(workspace_
                .run({"agent", "add", "coder", "--engine", "claude-code", "--option",
                      "program=./engine.sh"})
                .code,
            0);
  workspace_.write(".claude/settings.json", R"({"env":{"X":"theirs"}})");
  ASSERT_EQ(workspace_.run({"hook", "install", "--yes"}).code, 0);
  EXPECT_FALSE(executes("coder"));
  EXPECT_THAT(last_.err, HasSubstr(".claude/settings.json"));
  workspace_.write(".mcp.json", R"({"mcpServers":{"theirs":{"command":"./engine.sh"}}})");
  ASSERT_EQ(workspace_.run({"mcp", "install", "claude-code", "--yes"}).code, 0);
  const Ran review = workspace_.run({"trust", "--print"});
  EXPECT_THAT(review.out, AllOf(HasSubstr("file:.claude/settings.json (new"),
                                HasSubstr("file:.mcp.json (new")));
}

TEST_F(TrustCommand, FileThatAnAgentNamesIsTrustedWithItWhateverItsName) {
  workspace_.write("tools/my.mcp.json", "{}");
  ASSERT_EQ(workspace_
                .run({"agent", "add", "coder", "--engine", "claude-code", "--option",
                      "program=./engine.sh", "--option",
                      R"(arguments=["--mcp-config=tools/my.mcp.json"])"})
                .code,
            0);
  EXPECT_TRUE(executes("coder")) << last_;
}

TEST_F(TrustCommand, AgentMadeByACommandIsTrusted) {
  const Ran added = workspace_.run(
      {"agent", "add", "coder", "--engine", "claude-code", "--option", "program=./engine.sh"});
  EXPECT_EQ(added.code, 0) << added;
  EXPECT_TRUE(executes("coder")) << last_;
  EXPECT_FALSE(executes("helper")) << "the others stay as they were";
}

TEST_F(TrustCommand, EditOfAnUntrustedAgentDoesNotTrustIt) {
  const Ran edited = workspace_.run({"agent", "edit", "helper", "--set", "model=x"});
  EXPECT_EQ(edited.code, 0) << edited;
  EXPECT_FALSE(executes());
}

TEST_F(TrustCommand, ProgramBehindAVariableIsHashed) {
  workspace_.write("agents/helper/agent.json",
                   R"({"engine":"echo","capabilities":{"mcpServers":{"x":)"
                   R"({"command":"${NOT_SET:-./engine.sh}"}}}})");
  EXPECT_THAT(workspace_.run({"trust", "--print"}).out, HasSubstr("file:engine.sh"));
}

TEST_F(TrustCommand, RefusesAConfigurationWithTheSameMemberTwice) {
  workspace_.write(".skein/config.json", R"({"redact":{"jwt":false},"redact":{}})");
  const Ran ran = workspace_.run({"thread", "list"});
  EXPECT_EQ(ran.code, 2) << ran;
  EXPECT_THAT(ran.err, HasSubstr("is given twice"));
}

TEST_F(TrustCommand, WritingOneSettingLeavesOthersTrusted) {
  workspace_.write(".skein/config.json", R"({"redact":{"pin":"PIN [0-9]+"}})");
  trust();
  EXPECT_EQ(workspace_.run({"config", "set", "project", "p"}).code, 0);
  const Ran ran = workspace_.run({"redact"}, "PIN 4711");
  EXPECT_EQ(ran.out, "[redacted:pin]") << ran;
}

TEST_F(TrustCommand, StaleDigestInTheEnvironmentOnlyWarns) {
  const Ran ran = workspace_.shell("SKEIN_TRUST=" + std::string(64, 'a') + " skein thread list");
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, HasSubstr("SKEIN_TRUST"));
}

TEST_F(TrustCommand, ImportWaitsForRulesOfRedaction) {
  workspace_.write(".skein/config.json", R"({"redact":{"pin":"PIN [0-9]+"}})");
  workspace_.write("talk.json", R"([{"role":"user","content":"PIN 4711"}])");
  const Ran ran = workspace_.run({"import", "talk.json"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, HasSubstr("\"redact\" is not trusted"));
}

}  // namespace
}  // namespace skein::test
