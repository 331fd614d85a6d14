// The real Claude Code works with our MCP server, as `skein mcp install` sets it up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "claude_code.h"
#include "skein/checkpoints.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/messages_api.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string call(const std::string& tool, const std::string& input) {
  return R"({"content": [{"type": "tool_use", "name": "mcp__skein__)" + tool + R"(", "input": )" +
         input + "}]}";
}

TEST(ClaudeCodeWithMcp, StartsASessionCreatesAnItemResolvesItAndWritesACheckpoint) {
  GitSandbox sandbox;
  const TempDir home;
  commit_file(sandbox.path(), "README.md", "hello", "first");
  const auto skein = [&](std::vector<std::string> words) {
    words.insert(words.begin(), SKEIN_PROGRAM);
    return must(run_program({.argv = words, .folder = sandbox.path().string()}, {}, {}));
  };
  const Finished installed = skein({"mcp", "install", "claude-code", "--yes"});
  ASSERT_TRUE(installed.exit.ok()) << installed.err;

  // A model that has to look for tools before it can call them.
  const MessagesApi api(
      R"([{"content": [{"type": "tool_use", "name": "ToolSearch", "input": {"query":)"
      R"( "select:mcp__skein__session_start,mcp__skein__create_thread,mcp__skein__resolve_thread,)"
      R"(mcp__skein__checkpoint", "max_results": 10}}]},)" +
      call("session_start", R"({"agent": "claude", "project": "demo"})") + "," +
      call("create_thread", R"({"text": "The login page forgets the user"})") + "," +
      call("create_thread", R"({"text": "Ask for a review of the design"})") + "," +
      call("resolve_thread",
           R"({"text_match": "login page", "resolution_note": "The cookie lives longer now"})") +
      "," + call("checkpoint", R"({"title": "Login works", "summary": "Users stay logged in"})") +
      R"(, {"content": ["All done."]}])");
  const Finished ran =
      run_claude(sandbox.path(), home.path(), api.url(), "Please do your work.",
                 {"mcp__skein__session_start", "mcp__skein__create_thread",
                  "mcp__skein__resolve_thread", "mcp__skein__checkpoint", "ToolSearch",
                  "--mcp-config", (sandbox.path() / ".mcp.json").string(), "--strict-mcp-config"});
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  EXPECT_EQ(boost::json::parse(ran.out).at("result"), "All done.") << ran.out;

  const auto items = boost::json::parse(get_file(sandbox.path() / ".gitmem/threads.json"));
  std::map<std::string, std::string> states;
  for (const auto& item : items.as_array()) {
    states.emplace(item.at("text").as_string(), item.at("status").as_string());
  }
  EXPECT_THAT(states, ElementsAre(testing::Pair("Ask for a review of the design", "open"),
                                  testing::Pair("The login page forgets the user", "resolved")));
  EXPECT_EQ(items.at(0).at("source_session"), items.at(1).at("source_session"));

  Checkpoints checkpoints({.workspace = sandbox.path().string()});
  const auto made = must(checkpoints.list({}));
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(made[0].summary, "Users stay logged in");

  // What the store noted of it.
  const std::string id(items.at(0).at("id").as_string());
  const Finished shown = skein({"item", "show", id, "--json"});
  EXPECT_THAT(shown.out, HasSubstr("\"project\":\"demo\""));

  // The model saw what the tools answered.
  const auto requests = api.requests();
  EXPECT_THAT(requests, testing::Contains(HasSubstr("resolved_thread")));
}

}  // namespace
}  // namespace skein::test
