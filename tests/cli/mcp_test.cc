// `skein mcp` as a client starts it, and `skein mcp install`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <set>

#include "program.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A server that runs, and its answers.
class Client {
 public:
  explicit Client(const Workspace& workspace) : running_(workspace.start({"mcp"})) {
    running_.send(
        R"({"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":)"
        R"("2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
        "\n");
    answer("\"begin\"");
  }

  void send(int id, const std::string& tool, const std::string& arguments) {
    running_.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                  R"(,"method":"tools/call","params":{"name":")" + tool + R"(","arguments":)" +
                  arguments + "}}\n");
  }
  boost::json::value answer(std::string_view id) {
    const std::string wanted(id);
    while (!early_.contains(wanted)) {
      const auto line = running_.read_line();
      if (!line) {
        ADD_FAILURE() << "the server ended";
        return nullptr;
      }
      auto message = boost::json::parse(*line);
      const auto* found = message.as_object().if_contains("id");
      if (found != nullptr) early_[boost::json::serialize(*found)] = message;
    }
    return early_.extract(wanted).mapped();
  }
  boost::json::value call(int id, const std::string& tool, const std::string& arguments) {
    send(id, tool, arguments);
    return answer(std::to_string(id));
  }
  Ran finish() { return running_.finish(); }

 private:
  Running running_;
  std::map<std::string, boost::json::value> early_;  // by id; answers may overtake each other
};

TEST(McpProgram, TwoServersOnOneWorkspaceLoseNothingOfEachOther) {
  const Workspace workspace;
  Client first(workspace);
  Client second(workspace);
  constexpr int kEach = 40;
  for (int i = 0; i < kEach; ++i) {
    const std::string number = std::to_string(i);
    first.send(2 * i, "create_thread",
               R"({"text":"first OD-)" + number + R"(","allow_duplicate":true})");
    second.send(2 * i, "create_thread",
                R"({"text":"second OD-)" + number + R"(","allow_duplicate":true})");
    first.send(2 * i + 1, "create_conversation", R"({"title":"first )" + number + "\"}");
    second.send(2 * i + 1, "create_conversation", R"({"title":"second )" + number + "\"}");
  }
  for (int i = 0; i < 2 * kEach; ++i) {
    for (Client* client : {&first, &second}) {
      const auto made = client->answer(std::to_string(i));
      EXPECT_FALSE(made.at("result").as_object().contains("isError"))
          << boost::json::serialize(made);
    }
  }
  for (Client* client : {&first, &second}) {
    const auto listed = client->call(1000, "list_threads", "{}");
    EXPECT_EQ(listed.at_pointer("/result/structuredContent/total_open"), 2 * kEach);
  }
  EXPECT_EQ(first.finish().code, 0);
  EXPECT_EQ(second.finish().code, 0);
  const Ran threads = workspace.run({"thread", "list", "--limit", "1000", "--json"});
  const auto listing = threads.json();
  std::set<std::string> titles;
  for (const auto& thread : listing.as_array()) {
    titles.emplace(thread.at("title").as_string());
  }
  EXPECT_EQ(titles.size(), 2U * kEach) << threads;
}

TEST(McpProgram, SeesWhatTheCommandLineDidWithoutBeingStartedAgain) {
  const Workspace workspace;
  Client client(workspace);
  EXPECT_EQ(client.call(1, "list_threads", "{}").at_pointer("/result/structuredContent/total_open"),
            0);
  ASSERT_EQ(workspace.run({"item", "create", "Made elsewhere"}).code, 0);
  EXPECT_THAT(boost::json::serialize(client.call(2, "list_threads", "{}")),
              HasSubstr("Made elsewhere"));
  ASSERT_EQ(workspace.run({"item", "resolve", "--text-match", "elsewhere"}).code, 0);
  EXPECT_THAT(boost::json::serialize(client.call(3, "list_threads", "{}")),
              Not(HasSubstr("Made elsewhere")));
}

TEST(McpProgram, EndsWithItsInput) {
  const Workspace workspace;
  const Ran ran = workspace.run({"mcp"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.out, "");
}

TEST(McpProgram, DoesNotOfferFixturesUnlessItIsTold) {
  const Workspace workspace;
  const std::string ask = R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":)"
                          R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientCapabilities":{}}}})"
                          "\n";
  EXPECT_THAT(workspace.run({"mcp"}, ask).out, Not(HasSubstr("test_simple_text")));
  EXPECT_THAT(workspace.run({"mcp", "--conformance-fixtures"}, ask).out,
              HasSubstr("test_simple_text"));
  EXPECT_THAT(workspace.run({"mcp", "--help"}).out, Not(HasSubstr("fixtures")));
}

TEST(McpInstall, ShowsTheChangeAndWritesItOnceAgreedTo) {
  const Workspace workspace;
  const Ran refused = workspace.run({"mcp", "install", "claude-code"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.out, HasSubstr("+    \"skein\": {"));
  EXPECT_FALSE(std::filesystem::exists(workspace.path() / ".mcp.json"));
  const Ran written = workspace.run({"mcp", "install", "claude-code", "--yes"});
  EXPECT_EQ(written.code, 0) << written;
  const auto settings = boost::json::parse(workspace.read(".mcp.json"));
  EXPECT_EQ(boost::json::serialize(settings.at_pointer("/mcpServers/skein/args")), R"(["mcp"])");
  EXPECT_THAT(workspace.run({"mcp", "install", "claude-code"}).out,
              HasSubstr("the server is there already"));
}

TEST(McpInstall, WritesWhereEachClientLooks) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run({"mcp", "install", "cursor", "--yes"}).code, 0);
  EXPECT_THAT(workspace.read(".cursor/mcp.json"), HasSubstr("${workspaceFolder}"));
  Running codex({.folder = workspace.path(),
                 .arguments = {"mcp", "install", "codex", "--yes"},
                 .environment = {"CODEX_HOME=" + (workspace.path() / "codex").string()}});
  EXPECT_EQ(codex.finish().code, 0);
  EXPECT_THAT(workspace.read("codex/config.toml"), HasSubstr("[mcp_servers.skein]\ncommand = "));
  EXPECT_EQ(workspace.run({"mcp", "install", "emacs"}).code, 2);
  EXPECT_EQ(workspace.run({"mcp", "install"}).code, 2);
}

}  // namespace
}  // namespace skein::test
