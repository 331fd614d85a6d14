#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "program.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AgentCommands : public testing::Test {
 protected:
  AgentCommands() {
    workspace_.write("agents/helper/agent.json",
                     R"({"engine": "echo", "description": "helps", "system": "Be kind."})");
  }
  void break_one() const {
    workspace_.write("agents/broken/agent.json",
                     R"({"engine": "magic", "limits": {"turns": "x"}})");
  }

  Workspace workspace_;
};

TEST_F(AgentCommands, ListTheAgentsOfAWorkspace) {
  const Ran ran = workspace_.run({"agent", "list"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("echo"), HasSubstr("helper"), HasSubstr("helps")));
  const auto agents = workspace_.run({"agent", "list", "--json"}).json().as_array();
  ASSERT_EQ(agents.size(), 2U);
  EXPECT_EQ(agents[1].at("id").as_string(), "helper");
}

TEST_F(AgentCommands, ShowOneAsItIsUnderstood) {
  const Ran ran = workspace_.run({"agent", "show", "helper"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("helper"), HasSubstr("Be kind."))) << ran;
  const auto shown = workspace_.run({"agent", "show", "helper", "--json"}).json();
  EXPECT_EQ(shown.at("system").as_string(), "Be kind.");
  EXPECT_EQ(shown.at("limits").at("turns").to_number<int>(), 50);
  EXPECT_EQ(workspace_.run({"agent", "show", "nobody"}).code, 3);
}

TEST_F(AgentCommands, TellEveryMistakeWithFileFieldAndReason) {
  EXPECT_EQ(workspace_.run({"agent", "check"}).code, 0);
  break_one();
  const Ran ran = workspace_.run({"agent", "check"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("agents/broken/agent.json: \"engine\" must be one of"),
                             HasSubstr("\"limits.turns\" must be a whole number")));
  const auto problems = workspace_.run({"agent", "check", "--json"}).json().as_array();
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].at("field").as_string(), "engine");
  EXPECT_EQ(workspace_.run({"agent", "check", "helper"}).code, 0);
  EXPECT_EQ(workspace_.run({"agent", "show", "broken"}).code, 1);
  const Ran listed = workspace_.run({"agent", "list"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.err, HasSubstr("broken/agent.json"));
}

TEST_F(AgentCommands, ReadDefinitionsInTheConfigurationFile) {
  workspace_.write(".skein/config.json", R"({"agents": {"conf": {"engine": "echo"}}})");
  EXPECT_EQ(workspace_.run({"agent", "show", "conf"}).code, 0);
  workspace_.write(".skein/config.json", R"({"agents": []})");
  EXPECT_EQ(workspace_.run({"agent", "list"}).code, 2);
}

TEST_F(AgentCommands, AddAgentsFromOptions) {
  workspace_.write("prompt.md", "Be brief.\n");
  const Ran ran = workspace_.run({"agent",
                                  "add",
                                  "local",
                                  "--engine",
                                  "openai",
                                  "--model",
                                  "llama3",
                                  "--description",
                                  "here",
                                  "--system-file",
                                  "prompt.md",
                                  "--option",
                                  "baseUrl=http://localhost:1/v1",
                                  "--option",
                                  "retries=0",
                                  "--mcp",
                                  "files=npx -y 'a server' .",
                                  "--mcp",
                                  "web=https://example.org/mcp",
                                  "--set",
                                  "limits.turns=3",
                                  "--set",
                                  R"(capabilities.builtin=["recall"])",
                                  "--json"});
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("agent").as_string(), "local");
  EXPECT_THAT(ran.json().at("file").as_string().c_str(), HasSubstr("agents/local/agent.json"));
  const auto shown = workspace_.run({"agent", "show", "local", "--json"}).json();
  EXPECT_EQ(shown.at("model").as_string(), "llama3");
  EXPECT_EQ(shown.at("system").as_string(), "Be brief.\n");
  EXPECT_EQ(shown.at_pointer("/limits/turns").to_number<int>(), 3);
  EXPECT_EQ(shown.at_pointer("/options/retries").to_number<int>(), 0);
  EXPECT_EQ(shown.at_pointer("/capabilities/mcpServers/files/command").as_string(), "npx");
  EXPECT_EQ(shown.at_pointer("/capabilities/mcpServers/files/args/1").as_string(), "a server");
  EXPECT_EQ(shown.at_pointer("/capabilities/mcpServers/web/url").as_string(),
            "https://example.org/mcp");
  EXPECT_THAT(workspace_.read("agents/local/agent.json"),
              HasSubstr("{\n  \"description\": \"here\",\n  \"engine\": \"openai\",\n"));
  EXPECT_EQ(workspace_.read("agents/local/system.md"), "Be brief.\n");
}

TEST_F(AgentCommands, AddAgentsFromAFileOrStandardInput) {
  workspace_.write("new.json", R"({"engine": "echo", "description": "from a file"})");
  EXPECT_EQ(workspace_.run({"agent", "add", "one", "--file", "new.json"}).code, 0);
  EXPECT_EQ(workspace_
                .run({"agent", "add", "two", "--file", "-", "--description", "other"},
                     R"({"engine": "echo", "description": "from a file"})")
                .code,
            0);
  const auto shown = workspace_.run({"agent", "show", "two", "--json"}).json();
  EXPECT_EQ(shown.at("description").as_string(), "other");
}

TEST_F(AgentCommands, AddNothingThatHasMistakesOrIsThere) {
  const Ran wrong = workspace_.run({"agent", "add", "bad", "--engine", "magic", "--set",
                                    "limits.turns=many", "--option", "x=1"});
  EXPECT_EQ(wrong.code, 1) << wrong;
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("\"engine\" must be one of"),
                               HasSubstr("\"limits.turns\" must be a whole number")));
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "agents/bad"));
  EXPECT_EQ(workspace_.run({"agent", "add", "helper", "--engine", "echo"}).code, 4);
  EXPECT_EQ(workspace_.run({"agent", "add", "../x", "--engine", "echo"}).code, 1);
  EXPECT_EQ(workspace_.run({"agent", "add", "empty"}).code, 2);
  EXPECT_EQ(workspace_.run({"agent", "add", "x", "--engine", "echo", "--mcp", "a='open"}).code, 1);
  EXPECT_EQ(workspace_.run({"agent", "add", "x", "--engine", "echo", "--system-file", "no"}).code,
            3);
  const Ran key = workspace_.run({"agent", "add", "x", "--engine", "openai", "--model", "m",
                                  "--option", "keyVariable=not a name"});
  EXPECT_EQ(key.code, 1) << key;
}

TEST_F(AgentCommands, EditFieldsAndKeepTheRest) {
  ASSERT_EQ(
      workspace_
          .run({"agent", "edit", "helper", "--set", "limits.turns=7", "--unset", "description"})
          .code,
      0);
  EXPECT_EQ(workspace_.read("agents/helper/agent.json"),
            "{\n  \"engine\": \"echo\",\n  \"system\": \"Be kind.\",\n  \"limits\": {\n    "
            "\"turns\": 7\n  }\n}\n");
  const Ran wrong = workspace_.run({"agent", "edit", "helper", "--set", "limits.turns=0"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("limits.turns"));
  EXPECT_THAT(workspace_.read("agents/helper/agent.json"), HasSubstr("\"turns\": 7"));
  EXPECT_EQ(workspace_.run({"agent", "edit", "nobody", "--model", "x"}).code, 3);
  const Ran builtin = workspace_.run({"agent", "edit", "echo", "--model", "x"});
  EXPECT_EQ(builtin.code, 3);
  EXPECT_THAT(builtin.err, HasSubstr("built in"));
  EXPECT_EQ(workspace_.run({"agent", "edit", "helper"}).code, 2) << "there is no terminal";
}

TEST_F(AgentCommands, EditAndRemoveAgentsOfTheConfigurationFile) {
  workspace_.write(
      ".skein/config.json",
      R"({"project": "p", "agents": {"conf": {"engine": "echo"}, "z": {"engine": "echo"}}})");
  ASSERT_EQ(workspace_.run({"agent", "edit", "conf", "--description", "edited"}).code, 0);
  const auto shown = workspace_.run({"agent", "show", "conf", "--json"}).json();
  EXPECT_EQ(shown.at("description").as_string(), "edited");
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "agents/conf"));
  EXPECT_EQ(workspace_.run({"agent", "edit", "conf", "--engine", "magic"}).code, 1);
  ASSERT_EQ(workspace_.run({"agent", "remove", "conf", "--yes"}).code, 0);
  EXPECT_EQ(workspace_.read(".skein/config.json"),
            "{\n  \"project\": \"p\",\n  \"agents\": {\n    \"z\": {\n      \"engine\": "
            "\"echo\"\n    }\n  }\n}\n");
}

TEST_F(AgentCommands, EditByHandUntilTheDefinitionIsRight) {
  // Writes a mistake first, and mends it when it is started again.
  workspace_.write("editor",
                   "#!/bin/sh\nif grep -q magic \"$1\"; then sed -i s/magic/echo/ \"$1\"; else sed "
                   "-i 's/\"echo\"/\"magic\"/; s/helps/edited/' \"$1\"; fi\n");
  std::filesystem::permissions(workspace_.path() / "editor", std::filesystem::perms::owner_all);
  const std::string editor = "EDITOR=" + (workspace_.path() / "editor").string();
  const Ran given_up =
      workspace_.run_on_terminal({"agent", "edit", "helper"}, "n\n", {editor, "VISUAL="});
  EXPECT_EQ(given_up.code, 1) << given_up;
  EXPECT_THAT(given_up.out, HasSubstr("must be one of"));
  EXPECT_THAT(workspace_.read("agents/helper/agent.json"), HasSubstr("helps"));
  const Ran ran =
      workspace_.run_on_terminal({"agent", "edit", "helper"}, "y\n", {editor, "VISUAL="});
  EXPECT_EQ(ran.code, 0) << ran;
  const auto shown = workspace_.run({"agent", "show", "helper", "--json"}).json();
  EXPECT_EQ(shown.at("description").as_string(), "edited");
  const Ran failed =
      workspace_.run_on_terminal({"agent", "edit", "helper"}, "", {"EDITOR=false", "VISUAL="});
  EXPECT_EQ(failed.code, 1) << failed;
}

TEST_F(AgentCommands, RemoveADefinitionAfterAYes) {
  EXPECT_EQ(workspace_.run({"agent", "remove", "helper"}).code, 2) << "nobody was asked";
  EXPECT_EQ(workspace_.run_on_terminal({"agent", "remove", "helper"}, "n\n").code, 1);
  EXPECT_EQ(workspace_.run({"agent", "show", "helper"}).code, 0);
  workspace_.write("agents/helper/notes.txt", "mine");
  EXPECT_EQ(workspace_.run_on_terminal({"agent", "remove", "helper"}, "y\n").code, 0);
  EXPECT_EQ(workspace_.run({"agent", "show", "helper"}).code, 3);
  EXPECT_EQ(workspace_.read("agents/helper/notes.txt"), "mine");
  workspace_.write("prompt.md", "x");
  ASSERT_EQ(
      workspace_.run({"agent", "add", "tmp", "--engine", "echo", "--system-file", "prompt.md"})
          .code,
      0);
  const Ran ran = workspace_.run({"agent", "remove", "tmp", "--yes", "--json"});
  EXPECT_EQ(ran.json().at("done").as_string(), "removed");
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "agents/tmp"));
  EXPECT_EQ(workspace_.run({"agent", "remove", "echo", "--yes"}).code, 3);
}

TEST_F(AgentCommands, WriteThroughNoLinkThatLeavesTheWorkspace) {
  namespace fs = std::filesystem;
  const TempDir elsewhere;
  fs::create_directory_symlink(elsewhere.path(), workspace_.path() / "agents/linked");
  const Ran folder = workspace_.run({"agent", "add", "linked", "--engine", "echo"});
  EXPECT_EQ(folder.code, 1) << folder;
  EXPECT_THAT(folder.err, HasSubstr("link"));
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));

  fs::create_directory(workspace_.path() / "agents/file");
  fs::create_symlink(elsewhere.path() / "victim", workspace_.path() / "agents/file/agent.json");
  EXPECT_EQ(workspace_.run({"agent", "edit", "file", "--engine", "echo"}).code, 1);
  EXPECT_NE(workspace_.run({"agent", "add", "file", "--engine", "echo"}).code, 0);
  fs::remove(workspace_.path() / "agents/file/agent.json");
  fs::create_symlink(elsewhere.path() / "victim", workspace_.path() / "agents/file/system.md");
  workspace_.write("prompt.md", "x");
  EXPECT_EQ(
      workspace_.run({"agent", "add", "file", "--engine", "echo", "--system-file", "prompt.md"})
          .code,
      1);
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

}  // namespace
}  // namespace skein::test
