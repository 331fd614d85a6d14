#include "skein/agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

class AgentDefinitions : public testing::Test {
 protected:
  void write(const std::string& id, std::string_view json) {
    put_file(workspace_.path() / "agents" / id / "agent.json", json);
  }
  Agents load(std::string_view configured = "") const {
    return Agents::load({.folder = (workspace_.path() / "agents").string(),
                         .configured = configured.empty() ? Json() : must(Json::parse(configured)),
                         .config_file = "config.json",
                         .workspace = workspace_.path().string()});
  }
  // "field: reason" of everything wrong with one definition.
  std::vector<std::string> wrong(std::string_view json) const {
    std::vector<std::string> all;
    const auto parsed = parse_agent("a", json, {.workspace = workspace_.path().string()});
    for (const FieldProblem& problem : parsed.problems) {
      all.push_back(problem.field + ": " + problem.reason);
    }
    return all;
  }

  TempDir workspace_;
};

// Reasons of the problems with "systemFile", of an agent in its own folder.
class SystemFiles : public AgentDefinitions {
 protected:
  Agents with(const std::string& file) {
    write("a", R"({"engine": "echo", "systemFile": ")" + file + "\"}");
    return load();
  }
};

TEST_F(SystemFiles, StayInsideTheFolderOfTheirAgent) {
  put_file(workspace_.path() / "secret", "outside");
  put_file(workspace_.path() / "agents/b/prompt.md", "of another agent");
  const std::filesystem::path folder = workspace_.path() / "agents/a";
  std::filesystem::create_directories(folder / "sub");
  std::filesystem::create_symlink(workspace_.path() / "secret", folder / "link.md");
  std::filesystem::create_directory_symlink(workspace_.path(), folder / "out");
  std::filesystem::create_symlink("/dev/zero", folder / "zero");
  for (const std::string file :
       {"../../secret", "../b/prompt.md", "sub/../../../secret", "/etc/hostname", "link.md",
        "out/secret", "zero", "/dev/zero", "/proc/self/environ", "sub/.."}) {
    const Agents agents = with(file);
    ASSERT_EQ(agents.problems().size(), 1U) << file;
    EXPECT_EQ(agents.problems()[0].field, "systemFile") << file;
    EXPECT_EQ(agents.problems()[0].reason.find("outside"), std::string::npos);
    EXPECT_TRUE(fails(agents.get("a"), ErrorCode::kInvalid)) << file;
  }
}

TEST_F(SystemFiles, AreRegularFilesOrLinksToThemInside) {
  const std::filesystem::path folder = workspace_.path() / "agents/a";
  put_file(folder / "prompts/v2.md", "Be kind.");
  std::filesystem::create_symlink("prompts/v2.md", folder / "prompt.md");
  EXPECT_EQ(must(with("prompt.md").get("a")).system, "Be kind.");
  EXPECT_EQ(must(with("./prompts/v2.md").get("a")).system, "Be kind.");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(with("pipe").problems(), SizeIs(1));
  EXPECT_THAT(with("prompts").problems(), SizeIs(1));
}

TEST_F(SystemFiles, OfConfiguredAgentsStayInsideTheWorkspace) {
  put_file(workspace_.path() / "prompts/a.md", "Be brief.");
  EXPECT_EQ(
      must(load(R"({"c": {"engine": "echo", "systemFile": "prompts/a.md"}})").get("c")).system,
      "Be brief.");
  const Agents outside = load(R"({"c": {"engine": "echo", "systemFile": "../a.md"}})");
  ASSERT_THAT(outside.problems(), SizeIs(1));
  EXPECT_EQ(outside.problems()[0].field, "agents.c.systemFile");
}

TEST_F(AgentDefinitions, BehindLinksThatLeaveTheWorkspaceAreRefused) {
  const TempDir elsewhere;
  put_file(elsewhere.path() / "x/agent.json", R"({"engine": "echo"})");
  put_file(workspace_.path() / "shared/y/agent.json", R"({"engine": "echo"})");
  std::filesystem::create_directories(workspace_.path() / "agents");
  std::filesystem::create_directory_symlink(elsewhere.path() / "x", workspace_.path() / "agents/x");
  std::filesystem::create_directory_symlink("../shared/y", workspace_.path() / "agents/y");
  const Agents agents = load();
  EXPECT_TRUE(fails(agents.get("x"), ErrorCode::kInvalid, {"agents/x", "out of the workspace"}));
  EXPECT_TRUE(ok(agents.get("y")));

  std::filesystem::rename(workspace_.path() / "agents", elsewhere.path() / "agents");
  std::filesystem::create_directory_symlink(elsewhere.path() / "agents",
                                            workspace_.path() / "agents");
  write("z", R"({"engine": "echo"})");
  EXPECT_TRUE(fails(load().get("z"), ErrorCode::kInvalid, {"out of the workspace"}));
}

TEST_F(AgentDefinitions, AreNotNeededForEcho) {
  const Agents agents = load();
  EXPECT_THAT(agents.problems(), IsEmpty());
  const AgentDefinition echo = must(agents.get("echo"));
  EXPECT_EQ(echo.engine, "echo");
  EXPECT_EQ(echo.folder, workspace_.path().string());
  EXPECT_EQ(must(Agents().get("echo")).engine, "echo");
  EXPECT_TRUE(fails(agents.get("other"), ErrorCode::kNotFound, {"other"}));
}

TEST_F(AgentDefinitions, SayEverythingAboutAnAgent) {
  put_file(workspace_.path() / "agents/helper/prompt.md", "You help.\n");
  write("helper", R"({
    "description": "helps", "engine": "echo", "model": "m-1", "titleModel": "m-0",
    "systemFile": "prompt.md",
    "capabilities": {
      "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"API_KEY": "${FILES_KEY}"}},
        "web": {"type": "http", "url": "https://example.org/mcp",
                "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}},
      "builtin": ["recall", "ask_agent"],
      "allow": ["files*", "recall"], "confirm": ["files__write"]},
    "limits": {"seconds": 1.5, "turns": 7, "tokens": 1000, "outputTokens": 100, "costUsd": 0.25},
    "context": {"maxTokens": 500, "strategy": "hybrid"},
    "options": {"delayMs": 3}
  })");
  const Agents agents = load();
  for (const AgentProblem& problem : agents.problems()) ADD_FAILURE() << problem.str();
  const AgentDefinition agent = must(agents.get("helper"));
  EXPECT_EQ(agent.model, "m-1");
  EXPECT_EQ(agent.title_model, "m-0");
  EXPECT_EQ(agent.system, "You help.\n");
  ASSERT_EQ(agent.capabilities.servers.size(), 2U);
  EXPECT_THAT(agent.capabilities.servers[0].command, ElementsAre("npx", "-y", "files"));
  EXPECT_THAT(agent.capabilities.servers[0].environment,
              ElementsAre(Pair("API_KEY", "${FILES_KEY}")));
  EXPECT_EQ(agent.capabilities.servers[1].url, "https://example.org/mcp");
  EXPECT_TRUE(agent.capabilities.allows("files_read"));
  EXPECT_FALSE(agent.capabilities.allows("recall_more"));
  EXPECT_TRUE(agent.capabilities.needs_yes("files__write"));
  EXPECT_FALSE(agent.capabilities.needs_yes("files_read"));
  EXPECT_EQ(agent.limits.timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(agent.limits.max_turns, 7);
  EXPECT_EQ(agent.limits.max_tokens, 1000);
  EXPECT_EQ(agent.limits.max_output_tokens, 100);
  EXPECT_EQ(agent.limits.max_cost_usd, 0.25);
  EXPECT_EQ(agent.context.max_tokens, 500U);
  EXPECT_EQ(agent.context.strategy, ContextStrategy::kHybrid);
  EXPECT_EQ(agent.options.text(), R"({"delayMs": 3})");
}

TEST_F(AgentDefinitions, WithMistakesTellAllOfThemAndLeaveTheOthersAlone) {
  write("bad", R"({"engine": "magic", "limits": {"turns": 0, "money": 3}, "systemFile": "no.md",
                   "capabilities": {"builtin": ["fly"], "allow": ["a*b"]}, "mdoel": "x"})");
  write("worse", "not JSON");
  write("good", R"({"engine": "echo"})");
  std::filesystem::create_directories(workspace_.path() / "agents/linked");
  std::filesystem::create_symlink("../good/agent.json",
                                  workspace_.path() / "agents/linked/agent.json");
  put_file(workspace_.path() / "agents/README.md", "not an agent");
  put_file(workspace_.path() / "agents/empty/notes.txt", "not an agent either");
  const Agents agents = load();
  EXPECT_TRUE(ok(agents.get("good")));
  EXPECT_EQ(agents.all().size(), 2U);
  const auto bad = agents.get("bad");
  EXPECT_TRUE(fails(bad, ErrorCode::kInvalid,
                    {"bad/agent.json", "\"engine\" must be one of", "\"limits.turns\"", "from 1 to",
                     "\"limits.money\" is not a field", "\"systemFile\"", "no.md", "\"fly\"",
                     "\"a*b\"", "\"mdoel\""}));
  EXPECT_TRUE(fails(agents.get("worse"), ErrorCode::kInvalid, {"worse/agent.json"}));
  EXPECT_TRUE(fails(agents.get("linked"), ErrorCode::kInvalid, {"regular file"}));
}

TEST_F(AgentDefinitions, StandInTheConfigurationFileToo) {
  write("both", R"({"engine": "echo", "description": "from its file"})");
  const Agents agents = load(R"({"conf": {"engine": "echo", "model": "m"},
                                 "both": {"engine": "echo"},
                                 "odd": 3,
                                 "../up": {"engine": "echo"}})");
  EXPECT_EQ(must(agents.get("conf")).model, "m");
  EXPECT_EQ(must(agents.get("both")).description, "from its file");
  std::vector<std::string> problems;
  for (const AgentProblem& problem : agents.problems()) problems.push_back(problem.str());
  EXPECT_THAT(problems,
              ElementsAre(HasSubstr("config.json: \"agents.../up\""), HasSubstr("file of its own"),
                          HasSubstr("config.json: \"agents.odd\"")));
}

TEST_F(AgentDefinitions, MayReplaceEcho) {
  write("echo", R"({"engine": "echo", "options": {"repeat": 2}})");
  EXPECT_EQ(must(load().get("echo")).options.text(), R"({"repeat": 2})");
  write("echo", R"({"engine": 3})");
  EXPECT_TRUE(fails(load().get("echo"), ErrorCode::kInvalid));
}

TEST_F(AgentDefinitions, AreRefusedWhenTheyHoldAKeyAndDoNotRepeatIt) {
  const std::string key = "sk-ant-" + std::string("api03-") + std::string(40, 'a') + "1B2c3D4e5F6g";
  for (const std::string& json :
       {R"({"engine": "echo", "system": "use )" + key + R"("})",
        R"({"engine": "echo", "options": {"keyVariable": ")" + key + R"("}})",
        R"({"engine": "echo", "model": [")" + key + R"("]})",
        R"({"engine": "echo", ")" + key + R"(": 1})",
        R"({"engine": "echo", "capabilities": {"mcpServers": {"s": {"command": "x", "args": [")" +
            key + R"("]}}}})"}) {
    const auto problems = wrong(json);
    EXPECT_THAT(problems, Contains(HasSubstr("key"))) << json;
    for (const std::string& problem : problems) EXPECT_THAT(problem, Not(HasSubstr(key)));
  }
  EXPECT_THAT(wrong(R"({"engine": "echo", "capabilities": {"mcpServers": {"s": {
                "command": "x", "env": {"DB_PASSWORD": "hunter2"}}}}})"),
              ElementsAre("capabilities.mcpServers.s.env.DB_PASSWORD: must take its value from the "
                          "environment, as ${NAME}"));
}

TEST_F(AgentDefinitions, NameTheirServersOfToolsProperly) {
  const auto server = [&](std::string_view json) {
    return wrong(R"({"engine": "echo", "capabilities": {"mcpServers": {"s": )" + std::string(json) +
                 "}}}");
  };
  EXPECT_THAT(server(R"({"command": "x"})"), IsEmpty());
  EXPECT_THAT(server(R"({"url": "http://x"})"), IsEmpty());
  EXPECT_THAT(server("{}"), ElementsAre(HasSubstr("either a \"command\" or a \"url\"")));
  EXPECT_THAT(server(R"({"command": "x", "url": "http://x"})"), Contains(HasSubstr("either")));
  EXPECT_THAT(server(R"({"type": "http", "command": "x"})"), ElementsAre(HasSubstr("type")));
  EXPECT_THAT(server(R"({"url": "ftp://x"})"), ElementsAre(HasSubstr("http://")));
  EXPECT_THAT(server(R"({"url": "http://x", "args": ["y"]})"), ElementsAre(HasSubstr("args")));
  EXPECT_THAT(server(R"({"command": "x", "headers": {"a": "b"}})"),
              ElementsAre(HasSubstr("headers")));
  EXPECT_THAT(server(R"({"command": "x", "args": ["${A B}"]})"), ElementsAre(HasSubstr("${NAME}")));
  EXPECT_THAT(server("3"), ElementsAre(HasSubstr("must be an object")));
  EXPECT_THAT(
      wrong(R"({"engine": "echo", "capabilities": {"mcpServers": {"a b": {"url": "http://x"}}}})"),
      ElementsAre(HasSubstr("named")));
}

TEST_F(AgentDefinitions, PromiseNoRulesThatTheirEngineWouldNotKeep) {
  EXPECT_THAT(wrong(R"({"engine": "claude-code", "capabilities": {
                        "builtin": ["recall"], "allow": ["a"], "confirm": ["b"]}})"),
              ElementsAre(HasSubstr("capabilities.builtin"), HasSubstr("capabilities.allow"),
                          HasSubstr("capabilities.confirm")));
  EXPECT_THAT(wrong(R"({"engine": "openai"})"), ElementsAre(HasSubstr("model: is missing")));
}

TEST_F(AgentDefinitions, AllowEveryBuiltInTool) {
  EXPECT_THAT(wrong(R"({"engine": "openai", "model": "m", "capabilities": {
                        "builtin": ["recall", "tasks"],
                        "allow": ["recall", "get_task", "update_task_steps", "complete_task"],
                        "confirm": ["complete_*"]}})"),
              IsEmpty());
}

TEST_F(AgentDefinitions, RejectNamesInAllowAndConfirmThatNoToolCanHave) {
  EXPECT_THAT(
      wrong(R"({"engine": "echo", "capabilities": {
                        "mcpServers": {"files": {"command": "x"}},
                        "allow": ["file__read"], "confirm": ["files__write", "file__write"]}})"),
      ElementsAre(testing::AllOf(HasSubstr("capabilities.allow"), HasSubstr("\"file__read\"")),
                  testing::AllOf(HasSubstr("capabilities.confirm"), HasSubstr("\"file__write\""))));
}

TEST_F(AgentDefinitions, StandInTheDocumentationAsTheyMayBe) {
  const std::string page = get_file(std::string(SKEIN_SOURCE_DIR) + "/docs/agents.md");
  const auto begin = page.find("```json\n") + 8;
  ASSERT_GT(begin, 8U);
  EXPECT_THAT(wrong(page.substr(begin, page.find("```", begin) - begin)), IsEmpty());
}

TEST(ToolServers, TakeTheirVariablesFromTheEnvironment) {
  ::setenv("SKEIN_TEST_TOKEN", "t0k", 1);
  ::unsetenv("SKEIN_TEST_ABSENT");
  const ToolServer server{.name = "s",
                          .url = "http://${SKEIN_TEST_ABSENT:-localhost}/x",
                          .headers = {{"Authorization", "Bearer ${SKEIN_TEST_TOKEN}!"}}};
  const ToolServer resolved = must(resolve_server(server));
  EXPECT_EQ(resolved.url, "http://localhost/x");
  EXPECT_THAT(resolved.headers, ElementsAre(Pair("Authorization", "Bearer t0k!")));
  EXPECT_TRUE(fails(resolve_server({.name = "s", .command = {"x", "${SKEIN_TEST_ABSENT}"}}),
                    ErrorCode::kInvalid, {"\"s\"", "SKEIN_TEST_ABSENT"}));
}

}  // namespace
}  // namespace skein::test
