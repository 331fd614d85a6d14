#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

const std::vector<std::vector<std::string>> kCommands = {{"thread", "create"},
                                                         {"thread", "list"},
                                                         {"thread", "show"},
                                                         {"thread", "append"},
                                                         {"thread", "events"},
                                                         {"thread", "fork"},
                                                         {"thread", "delete"},
                                                         {"import"},
                                                         {"export"},
                                                         {"doctor"},
                                                         {"completion"},
                                                         {"run"},
                                                         {"chat"},
                                                         {"usage"},
                                                         {"runs", "list"},
                                                         {"runs", "show"},
                                                         {"runs", "cancel"},
                                                         {"runs", "resume"}};

TEST(Usage, EveryCommandHasHelpWithExamples) {
  const Workspace workspace;
  for (std::vector<std::string> command : kCommands) {
    command.push_back("--help");
    const Ran ran = workspace.run(command);
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_THAT(ran.out, HasSubstr("Examples:\n  "));
    EXPECT_THAT(ran.out, HasSubstr("Usage: skein " + command[0]));
  }
  EXPECT_EQ(workspace.run({"--help"}).code, 0);
  EXPECT_THAT(workspace.run({"thread", "--help"}).out, HasSubstr("append"));
}

TEST(Usage, TheVersionIsPrinted) {
  EXPECT_THAT(Workspace().run({"--version"}).out, MatchesRegex("skein [0-9.]+\n"));
}

TEST(Usage, WrongWordsAreToldOnStandardErrorWithCodeTwo) {
  const Workspace workspace;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {},
           {"dance"},
           {"thread"},
           {"thread", "dance"},
           {"thread", "show"},
           {"thread", "list", "--nope"},
           {"thread", "show", "a1b2c3d4e5f6", "b1b2c3d4e5f6"},
           {"thread", "append", "a1b2c3d4e5f6", "--role", "king", "--text", "x"},
           {"thread", "create", "--metadata", "[1]"},
           {"thread", "create", "--title", "a", "--title", "b"},
           {"thread", "events", "a1b2c3d4e5f6", "--since", "x"},
           {"import"},
           {"export"},
           {"export", "--all", "--agent", "a"},
           {"export", "--all", "--format", "docx"},
           {"completion", "csh"},
           {"--store", "ftp:x", "thread", "create"}}) {
    const Ran ran = workspace.run(words);
    EXPECT_EQ(ran.code, 2) << ran;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, StartsWith("skein: "));
  }
  const Ran json = workspace.run({"thread", "dance", "--json"});
  EXPECT_THAT(json.err, HasSubstr("{\"error\":{\"code\":\"usage\",\"message\":"));
}

TEST(Usage, GlobalOptionsMayStandBeforeOrAfterTheCommand) {
  const Workspace workspace;
  const std::string url = workspace.url("sqlite", "elsewhere");
  const std::string id = workspace.run({"--store", url, "thread", "create"}).out_line();
  EXPECT_EQ(workspace.run({"thread", "show", id, "--store", url, "--json"}).code, 0);
  EXPECT_EQ(workspace.run({"thread", "show", id}).code, 3);
}

TEST(Settings, TheDefaultStoreLiesInTheNearestWorkspaceAbove) {
  const Workspace workspace;
  fs::create_directories(workspace.path() / "a" / "b");
  Running running(Start{.folder = workspace.path() / "a" / "b",
                        .arguments = {"thread", "create"},
                        .environment = {"HOME=" + workspace.path().parent_path().string()}});
  EXPECT_EQ(running.finish().code, 0);
  EXPECT_TRUE(fs::exists(workspace.path() / ".skein" / "skein.db"));
  EXPECT_FALSE(fs::exists(workspace.path() / "a" / "b" / ".skein"));
}

TEST(Settings, WithoutAWorkspaceItIsTheEnclosingRepositoryElseTheFolderItself) {
  const TempDir folder;
  fs::create_directories(folder.path() / "repo" / ".git");
  fs::create_directories(folder.path() / "repo" / "src");
  Running inside(
      Start{.folder = folder.path() / "repo" / "src", .arguments = {"thread", "create"}});
  EXPECT_EQ(inside.finish().code, 0);
  EXPECT_TRUE(fs::exists(folder.path() / "repo" / ".skein" / "skein.db"));
}

TEST(Settings, TheEnvironmentAndTheOptionNameAnotherWorkspace) {
  const Workspace workspace;
  fs::create_directories(workspace.path() / "one");
  fs::create_directories(workspace.path() / "two");
  Running by_environment(Start{.folder = workspace.path(),
                               .arguments = {"thread", "create"},
                               .environment = {"SKEIN_WORKSPACE=one"}});
  EXPECT_EQ(by_environment.finish().code, 0);
  EXPECT_TRUE(fs::exists(workspace.path() / "one" / ".skein" / "skein.db"));
  EXPECT_EQ(workspace.run({"thread", "create", "--workspace", "two"}).code, 0);
  EXPECT_TRUE(fs::exists(workspace.path() / "two" / ".skein" / "skein.db"));
  EXPECT_EQ(workspace.run({"thread", "create", "--workspace", "three"}).code, 2);
}

TEST(Settings, TheConfigurationNamesStoreAndAgent) {
  const Workspace workspace;
  workspace.write("my.json", R"({"store": "jsonl:files", "defaultAgent": "helper"})");
  const std::string id = workspace.run({"--config", "my.json", "thread", "create"}).out_line();
  EXPECT_TRUE(fs::exists(workspace.path() / "files" / "helper" / "threads" / (id + ".jsonl")));
  workspace.write(".skein/config.json", R"({"defaultAgent": "usual"})");
  const std::string other = workspace.create();
  EXPECT_THAT(workspace.run({"thread", "show", other}).out, HasSubstr("agent     usual\n"));
}

TEST(Settings, BadConfigurationIsToldWithFileFieldAndReason) {
  const Workspace workspace;
  const auto error_of = [&](std::string_view config) {
    workspace.write("c.json", config);
    const Ran ran = workspace.run({"--config", "c.json", "thread", "list"});
    EXPECT_EQ(ran.code, 2) << ran;
    EXPECT_THAT(ran.err, HasSubstr("c.json"));
    return ran.err;
  };
  EXPECT_THAT(error_of(R"({"store": 5})"), HasSubstr("\"store\" must be a string, not 5"));
  EXPECT_THAT(error_of(R"({"defaultAgent": "../up"})"), HasSubstr("defaultAgent"));
  EXPECT_THAT(error_of(R"({"stroe": "memory:"})"), HasSubstr("\"stroe\" is not a setting"));
  EXPECT_THAT(error_of("{"), HasSubstr("JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("object"));
  EXPECT_EQ(workspace.run({"--config", "none.json", "thread", "list"}).code, 2);
}

TEST(Settings, ReadingMakesNoStore) {
  const Workspace workspace;
  const Ran list = workspace.run({"thread", "list", "--json"});
  EXPECT_EQ(list.code, 0) << list;
  EXPECT_EQ(list.out, "[]\n");
  EXPECT_EQ(workspace.run({"thread", "show", "a1b2c3d4e5f6"}).code, 3);
  EXPECT_EQ(workspace.run({"doctor"}).code, 3);
  EXPECT_FALSE(fs::exists(workspace.path() / ".skein" / "skein.db"));
}

TEST(Output, ABrokenPipeEndsItQuietly) {
  const Workspace workspace;
  const std::string id = workspace.create();
  std::string lines;
  for (int i = 0; i < 2000; ++i)
    lines += R"({"role":"user","text":")" + std::string(200, 'x') + "\"}\n";
  ASSERT_EQ(workspace.run({"thread", "append", id, "--jsonl"}, lines).code, 0);
  workspace.write("pipe.sh",
                  "'" + skein_program() + "' thread events " + id + " 2>err | head -n 1 >out\n");
  const std::string command = "cd '" + workspace.path().string() + "' && sh pipe.sh";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(workspace.read("err"), "");
  EXPECT_THAT(workspace.read("out"), HasSubstr("user"));
}

TEST(Output, AFullDiskIsAnError) {
  const Workspace workspace;
  const std::string id = workspace.create({"--message", "x"});
  workspace.write("full.sh",
                  "'" + skein_program() + "' thread events " + id + " >/dev/full 2>err\n");
  const std::string command = "cd '" + workspace.path().string() + "' && sh full.sh";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_THAT(workspace.read("err"), HasSubstr("cannot write the output"));
}

TEST(Output, ATerminalNeverGetsControlCharactersOfStoredText) {
  const Workspace workspace;
  const std::string id =
      workspace.create({"--title", "t\x1b[2J", "--message", "red \x1b[31m \r\x07 \xc2\x9b"});
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"thread", "events", id},
                                             {"thread", "list"},
                                             {"thread", "show", id},
                                             {"export", id, "--format", "markdown"}}) {
    const Ran ran = workspace.run_on_terminal(command);
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_THAT(ran.out, Not(HasSubstr("\x1b[2J")));
    EXPECT_THAT(ran.out, Not(HasSubstr("\x1b[31m")));
    EXPECT_THAT(ran.out, HasSubstr("\\x1b["));
  }
  // A program that reads gets what was stored.
  EXPECT_THAT(workspace.run({"thread", "events", id}).out, HasSubstr("red \x1b[31m"));
}

}  // namespace
}  // namespace skein::test
