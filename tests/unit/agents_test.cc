#include "skein/agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
      "allow": ["files*", "recall"], "confirm": ["files_write"]},
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
  EXPECT_TRUE(agent.capabilities.needs_yes("files_write"));
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
