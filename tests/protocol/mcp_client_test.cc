// Our MCP client with servers that others made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <thread>

#include "rpc/mcp_client.h"
#include "support/expect.h"
#include "support/temp_dir.h"
#include "tool_servers.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Json json(std::string_view text) { return must(Json::parse(text)); }

std::vector<std::string> tool_names(McpClient& client) {
  std::vector<std::string> names;
  for (const McpTool& tool : must(client.list_tools())) names.push_back(tool.name);
  return names;
}

McpToolResult call(McpClient& client, std::string tool, std::string_view arguments = "{}") {
  return must(client.call_tool({.tool = std::move(tool), .arguments = json(arguments)}));
}

// One server and its client; over HTTP, or over standard input and output.
struct Connected {
  std::unique_ptr<HttpToolServer> remote{};
  HttpClient http{};
  std::unique_ptr<McpClient> client{};

  McpClient& operator*() const { return *client; }
  McpClient* operator->() const { return client.get(); }
};

class RealServers : public testing::TestWithParam<std::string> {
 protected:
  bool over_http() const { return GetParam() == "http"; }

  std::unique_ptr<Connected> everything(McpOptions options = {}) {
    auto made = std::make_unique<Connected>();
    if (over_http()) made->remote = std::make_unique<HttpToolServer>(HttpToolServer::everything());
    return connect(std::move(made), everything_server(), std::move(options));
  }
  std::unique_ptr<Connected> modern(McpOptions options = {},
                                    const std::vector<std::string>& more = {}) {
    auto made = std::make_unique<Connected>();
    if (over_http()) made->remote = std::make_unique<HttpToolServer>(HttpToolServer::modern(more));
    return connect(std::move(made), modern_server(more), std::move(options));
  }

 private:
  std::unique_ptr<Connected> connect(std::unique_ptr<Connected> made, ToolServer local,
                                     McpOptions options) {
    made->client = std::make_unique<McpClient>(over_http() ? made->remote->server() : local,
                                               std::move(options), made->http);
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, RealServers, testing::Values("stdio", "http"),
                         [](const auto& transport) { return transport.param; });

TEST_P(RealServers, ListsAndCallsTheToolsOfTheEverythingServer) {
  const auto server = everything();
  EXPECT_THAT(tool_names(**server), testing::IsSupersetOf({"echo", "get-sum", "get-tiny-image"}));
  EXPECT_EQ((*server)->version(), "2025-11-25");
  EXPECT_EQ(call(**server, "echo", R"({"message":"grüß dich"})").text, "Echo: grüß dich");
  EXPECT_THAT(call(**server, "get-sum", R"({"a":2,"b":3})").text, HasSubstr("5"));
  EXPECT_THAT(call(**server, "get-tiny-image").text, HasSubstr("[image image/png"));
}

TEST_P(RealServers, GivesBackErrorsOfToolsAndOfArguments) {
  const auto server = everything();
  const McpToolResult wrong = call(**server, "get-sum", R"({"a":"two"})");
  EXPECT_TRUE(wrong.is_error);
  EXPECT_THAT(wrong.text, HasSubstr("get-sum"));
  const auto unknown = (*server)->call_tool({.tool = "no-such-tool"});
  if (unknown) {
    EXPECT_TRUE(unknown->is_error);
    EXPECT_THAT(unknown->text, HasSubstr("no-such-tool"));
  } else {
    EXPECT_TRUE(fails(unknown, ErrorCode::kInvalid, {"no-such-tool"}));
  }
}

TEST_P(RealServers, TellsProgressAsItHappens) {
  const auto server = everything();
  std::vector<double> told;
  McpCall asked{.tool = "trigger-long-running-operation",
                .arguments = json(R"({"duration":0.2,"steps":4})")};
  asked.on_progress = [&](const McpProgress& progress) { told.push_back(progress.progress); };
  EXPECT_THAT(must((*server)->call_tool(asked)).text, HasSubstr("completed"));
  EXPECT_THAT(told, ElementsAre(1, 2, 3, 4));
}

TEST_P(RealServers, StopsAndGivesUpOnALongOperation) {
  const auto server = everything({.total = 1500ms});
  std::stop_source source;
  McpCall asked{.tool = "trigger-long-running-operation",
                .arguments = json(R"({"duration":1000,"steps":100000})")};
  EXPECT_TRUE(fails((*server)->call_tool(asked), ErrorCode::kBusy, {"tools/call"}));
  asked.stop = source.get_token();
  asked.on_progress = [&](const McpProgress&) { source.request_stop(); };
  EXPECT_TRUE(fails((*server)->call_tool(asked), ErrorCode::kConflict, {"stopped"}));
  EXPECT_EQ(call(**server, "echo", R"({"message":"still here"})").text, "Echo: still here");
}

TEST_P(RealServers, CallsManyToolsAtOnce) {
  const auto server = everything();
  must((*server)->list_tools());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string message = "message " + std::to_string(i);
      for (int j = 0; j < 5; ++j) {
        EXPECT_EQ(call(**server, "echo", R"({"message":")" + message + "\"}").text,
                  "Echo: " + message);
      }
    });
  }
}

TEST_P(RealServers, SpeaksTheNewestVersion) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"only"}}) {
    const auto server = modern({}, more);
    EXPECT_THAT(tool_names(**server), testing::IsSupersetOf({"say", "route", "slow"}));
    EXPECT_EQ((*server)->version(), "2026-07-28");
    EXPECT_EQ(call(**server, "say", R"({"text":"hello"})").text, "hello");
    const McpToolResult broken = call(**server, "broken");
    EXPECT_TRUE(broken.is_error);
    EXPECT_THAT(broken.text, HasSubstr("it broke"));
    EXPECT_TRUE(fails((*server)->call_tool({.tool = "nothing"}), ErrorCode::kInvalid,
                      {"tools/call", "nothing"}));
  }
}

TEST_P(RealServers, MirrorsParametersIntoHeadersWhereTheSchemaWantsIt) {
  const auto server = modern();
  const std::string region = "eu süd";
  const std::string text = call(**server, "route", R"({"region":"eu süd"})").text;
  EXPECT_EQ(text, over_http() ? region + " =?base64?ZXUgc8O8ZA==?=" : region + " no header");
  EXPECT_EQ(call(**server, "route", R"({"region":"us-1"})").text,
            over_http() ? "us-1 us-1" : "us-1 no header");
}

TEST_P(RealServers, AnswersAServerThatNeedsInputBeforeItGoesOn) {
  const auto server = modern({.roots = {"/tmp/here"}});
  EXPECT_EQ(call(**server, "roots").text, "file:///tmp/here opaque");
}

TEST_P(RealServers, TellsProgressAndCancelsInTheNewestVersionToo) {
  const auto server = modern();
  std::vector<std::string> told;
  std::stop_source source;
  McpCall asked{.tool = "slow", .arguments = json(R"({"steps":3,"ms":5})")};
  asked.on_progress = [&](const McpProgress& progress) { told.push_back(progress.message); };
  EXPECT_EQ(must((*server)->call_tool(asked)).text, "done");
  EXPECT_THAT(told, ElementsAre("step 1", "step 2", "step 3"));
  asked.arguments = json(R"({"steps":100000,"ms":5})");
  asked.stop = source.get_token();
  asked.on_progress = [&](const McpProgress&) { source.request_stop(); };
  EXPECT_TRUE(fails((*server)->call_tool(asked), ErrorCode::kConflict, {"stopped"}));
  while (call(**server, "cancelled").text != "1") std::this_thread::sleep_for(10ms);
}

TEST_P(RealServers, SaysThatAServerEndedInTheMiddleOfACall) {
  const auto server = modern();
  EXPECT_TRUE(fails((*server)->call_tool({.tool = "die"}), ErrorCode::kIo, {"tools/call"}));
  if (over_http()) {
    EXPECT_TRUE(fails((*server)->call_tool({.tool = "say"}), ErrorCode::kIo, {"remote"}));
  } else {
    EXPECT_EQ(call(**server, "say", R"({"text":"back"})").text, "back");
  }
}

TEST(FilesystemServer, ReadsAndWritesWhereItMayAndNowhereElse) {
  const TempDir folder;
  std::ofstream(folder.path() / "note.txt") << "remember this";
  HttpClient http;
  McpClient client(filesystem_server(folder.path().string()), {}, http);
  EXPECT_THAT(tool_names(client), Contains("read_text_file"));
  const auto arguments = [&](const std::filesystem::path& path, const std::string& more = "") {
    return "{\"path\":" + Json::string(path.string()).text() + more + "}";
  };
  EXPECT_EQ(call(client, "read_text_file", arguments(folder.path() / "note.txt")).text,
            "remember this");
  call(client, "write_file", arguments(folder.path() / "new.txt", R"(,"content":"written")"));
  std::ifstream written(folder.path() / "new.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), "written");
  const McpToolResult refused = call(client, "read_text_file", arguments("/etc/passwd"));
  EXPECT_TRUE(refused.is_error);
  EXPECT_THAT(refused.text, HasSubstr("denied"));
}

}  // namespace
}  // namespace skein::test
