// Runs of the real program over models and over the real Claude Code, as a user has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>

#include "claude_code.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/messages_api.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "key-for-tests-0123456789abcdef";

class EngineRuns : public testing::Test {
 protected:
  void define(const std::string& id, const std::string& definition) {
    put_file(workspace_.path() / "agents" / id / "agent.json", definition);
    const auto review = json::parse(skein({"trust", "--print", "--json"}).out);
    skein({"trust", "--trust", std::string(review.at("digest").as_string())});
  }

  Finished skein(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SKEIN_PROGRAM);
    return must(run_program({.argv = arguments,
                             .folder = workspace_.path().string(),
                             .environment = {{"HOME", home_.path().string()},
                                             {"SKEIN_WORKSPACE", workspace_.path().string()},
                                             {"SKEIN_STORE", std::nullopt},
                                             {"MODEL_KEY", kKey},
                                             {"ANTHROPIC_API_KEY", std::nullopt},
                                             {"ANTHROPIC_AUTH_TOKEN", std::nullopt},
                                             {"ANTHROPIC_BASE_URL", std::nullopt},
                                             {"XDG_CONFIG_HOME", std::nullopt},
                                             {"CLAUDE_CONFIG_DIR", std::nullopt},
                                             {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                                             {"DISABLE_AUTOUPDATER", "1"}}},
                            {}, {.time = 240s}));
  }

  // One more turn in the thread, which the first one makes; the response.
  std::string say(const std::string& agent, const std::string& text) {
    std::vector<std::string> arguments = {"run", agent, text, "--json"};
    if (!thread_.empty()) arguments.insert(arguments.end(), {"--thread", thread_});
    const Finished ran = skein(arguments);
    EXPECT_TRUE(ran.exit.ok()) << ran.out << ran.err;
    if (!ran.exit.ok()) return "";
    const json::value outcome = json::parse(ran.out);
    thread_ = std::string(outcome.at("threadId").as_string());
    return std::string(outcome.at("response").as_string());
  }

  json::value manifest() const {
    return json::parse(skein({"thread", "show", thread_, "--json"}).out);
  }
  std::string session() const { return std::string(manifest().at("sessionId").as_string()); }

  // Everything that the workspace keeps, as bytes.
  std::string stored() const {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(workspace_.path())) {
      if (entry.is_regular_file()) all += get_file(entry.path());
    }
    return all;
  }

  TempDir workspace_;
  TempDir home_;
  std::string thread_;
};

TEST_F(EngineRuns, WithClaudeCodeResumeItsSessionAndGoOnWhenItVanished) {
  const MessagesApi api(R"([{"content": ["Hello Ada."]}, {"content": ["You are Ada."]},
                            {"content": ["Still Ada."]}, {"content": ["Ada, I was told."]}])");
  define("coder", R"({"engine": "claude-code", "options": {"program": ")" + claude_program() +
                      R"(", "keyVariable": "MODEL_KEY", "baseUrl": ")" + api.url() + "\"}}");
  EXPECT_EQ(say("coder", "My name is Ada."), "Hello Ada.");
  const std::string first = session();
  EXPECT_EQ(say("coder", "Who am I?"), "You are Ada.");
  EXPECT_EQ(say("coder", "And now?"), "Still Ada.");
  EXPECT_EQ(session(), first);
  ASSERT_GT(fs::remove_all(home_.path() / ".claude" / "projects"), 0U);
  EXPECT_EQ(say("coder", "Who was I?"), "Ada, I was told.");
  EXPECT_NE(session(), first);
  EXPECT_THAT(stored(), Not(HasSubstr(kKey)));
}

TEST_F(EngineRuns, OfClaudeCodeCompleteTheTaskOfTheirRun) {
  const MessagesApi api(R"([
      {"content": [{"type": "tool_use", "name": "ToolSearch", "input": {"query":
          "select:mcp__skein_task__get_task,mcp__skein_task__complete_task", "max_results": 5}}]},
      {"content": [{"type": "tool_use", "name": "mcp__skein_task__get_task", "input": {}}]},
      {"content": [{"type": "tool_use", "name": "mcp__skein_task__complete_task",
                    "input": {"note": "Sent to the list"}}]},
      {"content": ["It is done."]}])");
  define("coder", R"({"engine": "claude-code", "options": {"program": ")" + claude_program() +
                      R"(", "keyVariable": "MODEL_KEY", "baseUrl": ")" + api.url() + "\"}}");
  const Finished ran = skein({"task", "create", "coder", "Draft the release notes"});
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  const json::value done = json::parse(skein({"task", "history", "--json"}).out).at(0);
  EXPECT_EQ(done.at("status"), "done");
  EXPECT_EQ(done.at("note"), "Sent to the list");
  EXPECT_EQ(done.at_pointer("/lastRun/status"), "success");
  EXPECT_THAT(api.requests(), testing::Contains(HasSubstr("Draft the release notes")));
}

class ModelRuns : public EngineRuns, public testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Engines, ModelRuns, testing::Values("openai", "anthropic"),
                         [](const auto& engine) { return engine.param; });

TEST_P(ModelRuns, GoThroughToolsAndGiveTheModelTheConversationAndNobodyTheKey) {
  const MessagesApi api(R"([
      {"content": ["I note it.", {"type": "tool_use", "name": "create_work_item", "input": {"text": "Buy milk"}},
                   {"type": "tool_use", "name": "create_work_item", "input": "{oops"}]},
      {"content": ["Noted."]}, {"status": 529}, {"content": ["Milk."]}])",
                        MessagesApi::Takers::kAll);
  const std::string url = api.url() + (GetParam() == "openai" ? "/v1" : "");
  define("helper", R"({"engine": ")" + GetParam() + R"(", "model": "m-1", "system": "Be kind.",
      "capabilities": {"builtin": ["work_items"]},
      "options": {"keyVariable": "MODEL_KEY", "retryDelayMs": 1, "baseUrl": ")" +
                       url + "\"}}");
  EXPECT_EQ(say("helper", "Remember to buy milk."), "Noted.");
  EXPECT_EQ(say("helper", "What was it?"), "Milk.");
  const auto requests = api.requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_THAT(requests[1], HasSubstr("Buy milk"));
  EXPECT_THAT(requests[1], HasSubstr("{oops"));
  EXPECT_THAT(requests[3], HasSubstr("Remember to buy milk."));
  EXPECT_THAT(requests[3], HasSubstr("Noted."));
  EXPECT_THAT(requests[3], HasSubstr(kKey));
  EXPECT_THAT(stored(), Not(HasSubstr(kKey)));
}

TEST_P(ModelRuns, LeaveAnErrorInTheThreadThatDoesNotHoldTheKey) {
  const MessagesApi api(
      R"([{"status": 401, "error": {"message": "bad key )" + std::string(kKey) + R"("}}])",
      MessagesApi::Takers::kAll);
  define("helper", R"({"engine": ")" + GetParam() + R"(", "model": "m-1",
      "options": {"keyVariable": "MODEL_KEY", "baseUrl": ")" +
                       api.url() + (GetParam() == "openai" ? "/v1" : "") + "\"}}");
  const Finished ran = skein({"run", "helper", "Hello?"});
  EXPECT_FALSE(ran.exit.ok());
  EXPECT_THAT(ran.err, HasSubstr("bad key [key]"));
  EXPECT_THAT(ran.out + ran.err + stored(), Not(HasSubstr(kKey)));
}

}  // namespace
}  // namespace skein::test
