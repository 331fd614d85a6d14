// The real Claude Code as an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "claude_code.h"
#include "skein/engines.h"
#include "support/engine_listener.h"
#include "support/expect.h"
#include "support/messages_api.h"
#include "support/temp_dir.h"
#include "tool_servers.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RealClaudeCode : public testing::Test {
 protected:
  RealClaudeCode() {
    ::setenv("HOME", home_.path().c_str(), 1);
    ::setenv("SKEIN_TEST_KEY", "a-key-for-tests", 1);
    ::setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1", 1);
    ::setenv("DISABLE_AUTOUPDATER", "1", 1);
    for (const char* name : {"XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "ANTHROPIC_AUTH_TOKEN",
                             "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}) {
      ::unsetenv(name);
    }
  }

  // The next turn of a conversation, as a runner would ask for it.
  Result<EngineTurn> say(const MessagesApi& api, const std::string& text,
                         const std::string& options = "") {
    request_.messages.push_back({.role = Role::kUser, .text = text});
    request_.folder = folder_.path().string();
    request_.options = must(Json::parse(R"({"program": ")" + claude_program() +
                                        R"(", "keyVariable": "SKEIN_TEST_KEY", "baseUrl": ")" +
                                        api.url() + "\"" + options + "}"));
    auto turn = must(make_engine("claude-code"))->run(request_, listener_, {});
    if (turn) {
      request_.messages.push_back({.role = Role::kAssistant, .text = turn->text});
      request_.session_id = turn->session_id;
    }
    return turn;
  }

  // Of the conversation itself, not of what the program asks beside it.
  static std::vector<std::string> conversation(const MessagesApi& api) {
    std::vector<std::string> all;
    for (std::string& request : api.requests()) {
      if (request.find("\"tools\": [{") != std::string::npos) all.push_back(std::move(request));
    }
    return all;
  }

  TempDir home_;
  TempDir folder_;
  EngineRequest request_;
  EngineListener listener_;
};

TEST_F(RealClaudeCode, ResumesItsSessionForThreeTurnsAndStartsAnewWhenItVanished) {
  const MessagesApi api(R"([{"content": ["Hello Ada."]}, {"content": ["You are Ada."]},
                            {"content": ["Still Ada."]}, {"content": ["Ada, I was told."]}])");
  request_.system = "Answer in few words.";
  EXPECT_EQ(must(say(api, "My name is Ada.")).text, "Hello Ada.");
  const auto session = request_.session_id;
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(must(say(api, "Who am I?")).text, "You are Ada.");
  const EngineTurn third = must(say(api, "And now?"));
  EXPECT_EQ(third.text, "Still Ada.");
  EXPECT_GT(third.usage.input_tokens.value_or(0), 0);
  EXPECT_GT(third.usage.cost_usd.value_or(0), 0);
  EXPECT_EQ(third.usage.turns, 1);
  EXPECT_FALSE(third.model.empty());
  const auto before = conversation(api);
  ASSERT_EQ(before.size(), 3U);
  EXPECT_THAT(before[0], HasSubstr("Answer in few words."));
  // The session itself had what was said before; nobody told it again.
  EXPECT_THAT(before[2], HasSubstr("My name is Ada."));
  EXPECT_THAT(before[2], Not(HasSubstr("This conversation began earlier")));

  ASSERT_GT(fs::remove_all(home_.path() / ".claude" / "projects"), 0U);
  EXPECT_EQ(must(say(api, "Who was I?")).text, "Ada, I was told.");
  EXPECT_NE(request_.session_id, session);
  const auto after = conversation(api);
  ASSERT_EQ(after.size(), 4U);
  EXPECT_THAT(after[3], HasSubstr("This conversation began earlier"));
  EXPECT_THAT(after[3], HasSubstr("My name is Ada."));
  EXPECT_THAT(listener_.told, ElementsAre("text Hello Ada.", "text You are Ada.", "text Still Ada.",
                                          "text Ada, I was told."));
}

TEST_F(RealClaudeCode, TellsOfItsToolsAndUsesTheServersOfTheAgent) {
  const MessagesApi api(R"([
      {"content": ["I look.", {"type": "tool_use", "name": "Bash",
                   "input": {"command": "echo from-the-shell", "description": "say"}}]},
      {"content": [{"type": "tool_use", "name": "ToolSearch",
                    "input": {"query": "select:mcp__everything__echo"}}]},
      {"content": [{"type": "tool_use", "name": "mcp__everything__echo", "input": {"message": "from-mcp"}}]},
      {"content": ["Done."]}])");
  request_.servers = {everything_server()};
  const auto turn = say(api, "Use your tools.", R"(, "allowedTools": ["Bash"])");
  EXPECT_EQ(must(turn).text, "Done.");
  EXPECT_THAT(listener_.told, Contains("narration I look."));
  EXPECT_THAT(listener_.told, Contains(StartsWith("use Bash ")));
  EXPECT_THAT(listener_.told, Contains("result Bash from-the-shell"));
  EXPECT_THAT(listener_.told, Contains(HasSubstr("use mcp__everything__echo")));
  EXPECT_THAT(listener_.told, Contains("result mcp__everything__echo Echo: from-mcp"));
  EXPECT_EQ(turn->usage.turns, 4);
}

TEST_F(RealClaudeCode, FailsWithWhatTheApiSays) {
  const MessagesApi api(R"([{"status": 403,
      "error": {"type": "permission_error", "message": "that is not allowed"}}])");
  EXPECT_TRUE(fails(say(api, "Hello?"), ErrorCode::kInvalid, {"that is not allowed"}));
}

}  // namespace
}  // namespace skein::test
