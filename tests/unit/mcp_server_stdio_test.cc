#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <condition_variable>
#include <filesystem>

#include "mcp/fixtures.h"
#include "rpc/json_rpc.h"
#include "support/expect.h"
#include "support/mcp_stdio.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text(const boost::json::value& value) { return boost::json::serialize(value); }

std::int64_t code(const boost::json::value& answer) {
  const auto* error = answer.as_object().if_contains("error");
  return error == nullptr ? 0 : error->at("code").as_int64();
}

std::string tool_text(const boost::json::value& answer) {
  return std::string(answer.at_pointer("/result/content/0/text").as_string());
}

std::string modern(std::string_view members = {}) {
  return "{" + std::string(members) + (members.empty() ? "" : ",") + std::string(kModernMeta) + "}";
}

// A tool that waits until it is let go, or stopped.
class Gate {
 public:
  mcp::Tool tool() {
    return {.name = "wait",
            .title = "Wait",
            .description = "Waits",
            .run = [this](const mcp::Arguments&, const mcp::Exchange& exchange) {
              std::unique_lock lock(mutex_);
              ++entered_;
              changed_.notify_all();
              const bool let_go = changed_.wait(lock, exchange.stop, [this] { return open_; });
              stopped_ = stopped_ || !let_go;
              changed_.notify_all();
              return mcp::ToolOutcome(mcp::ToolAnswer{.text = let_go ? "let go" : "stopped"});
            }};
  }
  void wait_until_entered(int times = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_ >= times; });
  }
  void wait_until_stopped() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int entered_ = 0;
  bool open_ = false;
  bool stopped_ = false;
};

TEST(McpServerOverPipes, IsDiscoveredAndAnswersWithoutAnythingKeptBetweenRequests) {
  McpPipes pipes;
  const auto found = pipes.call("1", "server/discover", modern());
  EXPECT_EQ(text(found.at_pointer("/result/supportedVersions")), R"(["2026-07-28"])");
  EXPECT_EQ(found.at_pointer("/result/resultType"), "complete");
  EXPECT_EQ(found.at_pointer("/result/_meta/io.modelcontextprotocol~1serverInfo/name"), "skein");
  const auto tools = pipes.call("2", "tools/list", modern());
  EXPECT_EQ(tools.at_pointer("/result/cacheScope"), "public");
  EXPECT_GT(tools.at_pointer("/result/ttlMs").as_int64(), 0);
  const auto listed = pipes.call("3", "tools/call", modern(R"("name":"list_threads")"));
  EXPECT_EQ(listed.at_pointer("/result/resultType"), "complete");
  EXPECT_EQ(listed.at_pointer("/result/structuredContent/total_open"), 0);
  EXPECT_EQ(code(pipes.call("4", "ping", modern())), kRpcMethodNotFound);
  EXPECT_EQ(code(pipes.call("5", "initialize", modern())), kRpcMethodNotFound);
}

TEST(McpServerOverPipes, LeavesNoTraceInAWorkspaceThatIsOnlyLookedAt) {
  McpPipes pipes;
  pipes.initialize();
  pipes.call("1", "tools/call", R"({"name":"list_threads"})");
  pipes.call("2", "resources/list", "{}");
  pipes.call("3", "resources/subscribe", R"({"uri":"skein://items"})");
  EXPECT_FALSE(std::filesystem::exists(pipes.folder() / ".skein" / "skein.db"));
  EXPECT_FALSE(std::filesystem::exists(pipes.folder() / ".gitmem"));
}

TEST(McpServerOverPipes, RefusesRequestsThatDoNotSayTheirVersionOrCapabilities) {
  McpPipes pipes;
  const auto without = pipes.call("1", "tools/list", "{}");
  EXPECT_EQ(code(without), kRpcInvalidParams);
  EXPECT_THAT(text(without), HasSubstr("begin with"));
  EXPECT_EQ(
      code(pipes.call("2", "tools/list",
                      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})")),
      kRpcInvalidParams);
  const auto unknown =
      pipes.call("3", "tools/list",
                 R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01",)"
                 R"("io.modelcontextprotocol/clientCapabilities":{}}})");
  EXPECT_EQ(code(unknown), -32022);
  EXPECT_EQ(unknown.at_pointer("/error/data/requested"), "2031-01-01");
  EXPECT_EQ(unknown.at_pointer("/error/data/supported/0"), "2026-07-28");
  EXPECT_EQ(code(pipes.call("4", "tools/list", modern())), 0);
}

TEST(McpServerOverPipes, AgreesOnTheVersionThatAnOlderClientAsksForOrOnItsNewest) {
  for (const std::string_view version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    McpPipes pipes;
    EXPECT_EQ(pipes.initialize(version).at_pointer("/result/protocolVersion").as_string(), version);
    const auto tools = pipes.call("1", "tools/list", "{}");
    const bool structured = version >= "2025-06-18";
    EXPECT_EQ(tools.at_pointer("/result/tools/0").as_object().contains("outputSchema"), structured);
    EXPECT_FALSE(tools.at("result").as_object().contains("resultType"));
  }
  McpPipes pipes;
  EXPECT_EQ(pipes.initialize("1999-01-01").at_pointer("/result/protocolVersion"), "2025-11-25");
  EXPECT_EQ(
      code(pipes.call("1", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})")),
      kRpcInvalidRequest);
}

TEST(McpServerOverPipes, AnswersEveryKindOfBrokenLineWithItsErrorAndGoesOn) {
  McpPipes pipes;
  pipes.initialize();
  const auto error_of = [&pipes](std::string_view line) {
    pipes.send(line);
    return pipes.read();
  };
  EXPECT_EQ(code(error_of("{\"jsonrpc\":\"2.0\",\"id\":1,")), kRpcParseError);
  EXPECT_EQ(code(error_of("\xFF\xFE")), kRpcParseError);
  EXPECT_EQ(code(error_of("42")), kRpcInvalidRequest);
  EXPECT_EQ(code(error_of(R"({"jsonrpc":"2.0","id":null,"method":"ping"})")), kRpcInvalidRequest);
  const auto odd = error_of(R"({"jsonrpc":"1.0","id":9,"method":"ping"})");
  EXPECT_EQ(code(odd), kRpcInvalidRequest);
  EXPECT_EQ(odd.at("id"), 9);
  const auto array = error_of(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  EXPECT_EQ(code(array), kRpcInvalidRequest);
  EXPECT_TRUE(array.at("id").is_null());
  pipes.send("");
  pipes.send("   ");
  EXPECT_EQ(code(pipes.call("2", "no/such/method", "{}")), kRpcMethodNotFound);
  EXPECT_EQ(code(pipes.call("3", "ping", "{}")), 0);
}

TEST(McpServerOverPipes, PassesOverALineThatIsTooLongAndSaysSo) {
  McpPipes pipes;
  pipes.initialize();
  const std::string piece(std::size_t{1} << 20, 'x');
  pipes.send_bytes(R"({"jsonrpc":"2.0","id":1,"method":")");
  for (std::size_t sent = 0; sent <= skein::limits::kMaxRpcBytes; sent += piece.size()) {
    pipes.send_bytes(piece);
  }
  pipes.send("\"}");
  const auto answer = pipes.read();
  EXPECT_EQ(code(answer), kRpcParseError);
  EXPECT_TRUE(answer.at("id").is_null());
  EXPECT_EQ(code(pipes.call("2", "ping", "{}")), 0);
}

TEST(McpServerOverPipes, AnswersArraysWithArraysInTheOneVersionThatHasThem) {
  McpPipes pipes;
  pipes.initialize("2025-03-26");
  pipes.send(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"x"},)"
             R"({"jsonrpc":"2.0","id":2,"method":"nothing"}])");
  const auto answers = pipes.read().as_array();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].at("id"), 1);
  EXPECT_EQ(code(answers[1]), kRpcInvalidRequest);
  EXPECT_EQ(code(answers[2]), kRpcMethodNotFound);
  pipes.send("[]");
  EXPECT_EQ(code(pipes.read().as_array().at(0)), kRpcInvalidRequest);
}

TEST(McpServerOverPipes, RefusesAnIdThatBelongsToARequestThatIsOpen) {
  Gate gate;
  McpPipes pipes([&gate](mcp::Catalogue& all) { all.tools.push_back(gate.tool()); });
  pipes.initialize();
  pipes.send(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}})");
  gate.wait_until_entered();
  pipes.send(R"({"jsonrpc":"2.0","id":7.0,"method":"ping"})");
  const auto refused = pipes.read();
  EXPECT_EQ(code(refused), kRpcInvalidRequest);
  EXPECT_THAT(text(refused), HasSubstr("open still"));
  gate.open();
  EXPECT_EQ(tool_text(pipes.read()), "let go");
  EXPECT_EQ(code(pipes.call("7", "ping", "{}")), 0);
}

TEST(McpServerOverPipes, StopsARequestThatIsCancelledAndAnswersItNoMore) {
  Gate gate;
  McpPipes pipes([&gate](mcp::Catalogue& all) { all.tools.push_back(gate.tool()); });
  pipes.initialize();
  pipes.send(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"wait"}})");
  gate.wait_until_entered();
  pipes.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"z"}})");
  pipes.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  gate.wait_until_stopped();
  pipes.send(R"({"jsonrpc":"2.0","id":"b","method":"ping"})");
  EXPECT_EQ(pipes.read().at("id"), "b");
}

TEST(McpServerOverPipes, LetsQuickRequestsOvertakeOneThatTakesLong) {
  Gate gate;
  McpPipes pipes([&gate](mcp::Catalogue& all) { all.tools.push_back(gate.tool()); });
  pipes.initialize();
  pipes.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}})");
  pipes.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}})");
  for (int id = 3; id < 20; ++id) {
    pipes.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})");
  }
  for (int id = 3; id < 20; ++id) EXPECT_EQ(pipes.read().at("id"), id);
  gate.wait_until_entered(2);
  gate.open();
  EXPECT_EQ(tool_text(pipes.read()), "let go");
  EXPECT_EQ(tool_text(pipes.read()), "let go");
}

TEST(McpServerOverPipes, DoesWhatWasSentAtOnceInItsOrderAndAnswersAllBeforeItEnds) {
  McpPipes pipes;
  pipes.initialize();
  std::string lines;
  for (int id = 0; id < 100; ++id) {
    lines += R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
             R"(,"method":"tools/call","params":{"name":"create_conversation","arguments":)" +
             R"({"title":"T)" + std::to_string(id) + "\"}}}\n";
  }
  pipes.send_bytes(lines);
  pipes.end_input();
  std::size_t answers = 0;
  while (true) {
    const auto answer = pipes.read();
    if (answer.is_null()) break;
    if (!answer.as_object().contains("id")) continue;
    EXPECT_FALSE(answer.at("result").as_object().contains("isError")) << text(answer);
    ++answers;
  }
  EXPECT_EQ(answers, 100U);
}

TEST(McpServerOverPipes, ReportsProgressAndLogsToThoseWhoWantThem) {
  mcp::FixtureHooks hooks;
  McpPipes pipes([&hooks](mcp::Catalogue& all) { mcp::add_fixtures(all, hooks); });
  pipes.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":)"
             R"("test_tool_with_progress","_meta":{"progressToken":"p",)"
             R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
             R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  for (const int done : {0, 50, 100}) {
    const auto told = pipes.read();
    EXPECT_EQ(told.at("method"), "notifications/progress");
    EXPECT_EQ(told.at_pointer("/params/progressToken"), "p");
    EXPECT_EQ(told.at_pointer("/params/progress").to_number<double>(), done);
  }
  EXPECT_EQ(pipes.read().at("id"), 1);
  pipes.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":)" +
             modern(R"("name":"test_logging_tool")") + "}");
  EXPECT_EQ(pipes.read().at("id"), 2);
  pipes.send(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"test_logging_tool",)"
      R"("_meta":{"io.modelcontextprotocol/logLevel":"info",)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  EXPECT_EQ(pipes.read().at("method"), "notifications/message");
  EXPECT_EQ(pipes.read().at("id"), 3);
}

TEST(McpServerOverPipes, AsksAClientOfAnOlderVersionAndGoesOnWithItsAnswer) {
  mcp::FixtureHooks hooks;
  McpPipes pipes([&hooks](mcp::Catalogue& all) { mcp::add_fixtures(all, hooks); });
  pipes.call("0", "initialize",
             R"({"protocolVersion":"2025-11-25","capabilities":{"sampling":{}}})");
  pipes.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_sampling",)"
             R"("arguments":{"prompt":"Hello"}}})");
  const auto asked = pipes.read();
  EXPECT_EQ(asked.at("method"), "sampling/createMessage");
  pipes.send(R"({"jsonrpc":"2.0","id":)" + text(asked.at("id")) + R"(,"result":{"said":"hi"}})");
  EXPECT_THAT(tool_text(pipes.read()), HasSubstr("\"said\":\"hi\""));
  // One that goes instead of answering keeps nobody.
  pipes.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_sampling",)"
             R"("arguments":{"prompt":"Hello"}}})");
  EXPECT_EQ(pipes.read().at("method"), "sampling/createMessage");
  pipes.end_input();
  EXPECT_THAT(tool_text(pipes.read()), HasSubstr("the client gave up"));
  EXPECT_TRUE(pipes.read().is_null());
}

TEST(McpServerOverPipes, TellsASubscriberOfChangesThatAnybodyMade) {
  McpPipes pipes;
  pipes.send(R"({"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":)" +
             modern(R"("notifications":{"resourcesListChanged":true,"toolsListChanged":true,)"
                    R"("resourceSubscriptions":["skein://items"]})") +
             "}");
  const auto acknowledged = pipes.read();
  EXPECT_EQ(acknowledged.at("method"), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(text(acknowledged.at_pointer("/params/notifications")),
            R"({"resourcesListChanged":true,"resourceSubscriptions":["skein://items"]})");
  {
    mcp::Workspace other({.settings = mcp_settings(pipes.folder())});
    CreateItem item;
    item.text = "Something is open";
    ASSERT_TRUE(ok(other.items(*must(other.change())).create(item)));
  }
  std::set<std::string> told;
  while (told.size() < 2) {
    const auto message = pipes.read();
    ASSERT_FALSE(message.is_null());
    EXPECT_EQ(message.at_pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId"), "sub");
    told.emplace(message.at("method").as_string());
  }
  EXPECT_THAT(
      told, ElementsAre("notifications/resources/list_changed", "notifications/resources/updated"));
  pipes.send(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}})");
  EXPECT_EQ(code(pipes.call("\"after\"", "tools/list", modern())), 0);
}

TEST(McpServerOverPipes, TellsAnOlderClientOfTheResourcesThatItSubscribedTo) {
  McpPipes pipes;
  pipes.initialize();
  const auto made = pipes.call("1", "tools/call", R"({"name":"create_conversation"})");
  const std::string id(made.at_pointer("/result/structuredContent/conversation_id").as_string());
  const std::string uri = "skein://thread/" + id;
  pipes.call("2", "resources/subscribe", R"({"uri":")" + uri + R"("})");
  pipes.send(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"append_message",)"
             R"("arguments":{"conversation_id":")" +
             id + R"(","role":"user","text":"hello"}}})");
  while (true) {
    const auto message = pipes.read();
    ASSERT_FALSE(message.is_null());
    if (!message.as_object().contains("method")) continue;
    if (message.at("method") != "notifications/resources/updated") continue;
    EXPECT_EQ(message.at_pointer("/params/uri").as_string(), uri);
    break;
  }
}

// The items that are shown are those of the session's project.
TEST(McpServerOverPipes, TellsThatItemsChangedWhenASessionDoes) {
  McpPipes pipes;
  pipes.initialize();
  pipes.call("1", "tools/call", R"({"name":"create_thread","arguments":{"text":"Paint it"}})");
  pipes.call("2", "resources/subscribe", R"({"uri":"skein://items"})");
  pipes.send(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"session_start",)"
             R"("arguments":{"project":"other"}}})");
  while (true) {
    const auto message = pipes.read();
    ASSERT_FALSE(message.is_null());
    if (!message.as_object().contains("method")) continue;
    if (message.at("method") != "notifications/resources/updated") continue;
    EXPECT_EQ(message.at_pointer("/params/uri"), "skein://items");
    break;
  }
}

TEST(McpServerOverPipes, PagesThroughResourcesAndRefusesCursorsThatItDidNotGive) {
  McpPipes pipes([](mcp::Catalogue& all) {
    mcp::ResourceSet many;
    many.list = [](const mcp::Caller&) -> Result<std::vector<std::string>> {
      std::vector<std::string> entries;
      for (int i = 0; i < 120; ++i) {
        entries.push_back(R"({"uri":"x://)" + std::to_string(i) + R"(","name":"x"})");
      }
      return entries;
    };
    many.read = [](std::string_view, const mcp::Exchange&) -> Result<std::string> {
      return fail(ErrorCode::kNotFound, "none");
    };
    all.resources = {many};
  });
  std::size_t seen = 0;
  std::string cursor;
  for (int page = 1; page <= 3; ++page) {
    const auto answer = pipes.call(std::to_string(page), "resources/list",
                                   modern(cursor.empty() ? "" : R"("cursor":")" + cursor + "\""));
    seen += answer.at_pointer("/result/resources").as_array().size();
    const auto* next = answer.at("result").as_object().if_contains("nextCursor");
    ASSERT_EQ(next != nullptr, page < 3);
    if (next != nullptr) cursor = std::string(next->as_string());
  }
  EXPECT_EQ(seen, 120U);
  for (const std::string bad : {"7", "-50", "nonsense", "050", ""}) {
    EXPECT_EQ(code(pipes.call("9", "resources/list", modern(R"("cursor":")" + bad + "\""))),
              kRpcInvalidParams)
        << bad;
  }
}

TEST(McpServerOverPipes, SealsTheStateOfRequestsThatRequireInput) {
  mcp::FixtureHooks hooks;
  McpPipes pipes([&hooks](mcp::Catalogue& all) { mcp::add_fixtures(all, hooks); });
  const auto able = [](std::string_view members) {
    return "{" + std::string(members) +
           R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}})";
  };
  const std::string name = R"("name":"test_input_required_result_request_state")";
  const auto asked = pipes.call("1", "tools/call", able(name));
  ASSERT_EQ(asked.at_pointer("/result/resultType"), "input_required") << text(asked);
  const std::string state(asked.at_pointer("/result/requestState").as_string());
  const std::string answers =
      R"("inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}},"requestState":")";
  const auto done = pipes.call("2", "tools/call", able(name + "," + answers + state + "\""));
  EXPECT_THAT(tool_text(done), HasSubstr("state-ok"));
  EXPECT_EQ(code(pipes.call("3", "tools/call", able(name + "," + answers + state + "0\""))),
            kRpcInvalidParams);
  // A state of another request, and of other arguments, is none.
  EXPECT_EQ(code(pipes.call("4", "tools/call",
                            able(R"("name":"test_input_required_result_tampered_state",)" +
                                 answers + state + "\""))),
            kRpcInvalidParams);
  EXPECT_EQ(code(pipes.call("5", "tools/call",
                            able(name + R"(,"arguments":{"x":1},)" + answers + state + "\""))),
            kRpcInvalidParams);
  // Whoever cannot be asked is not.
  EXPECT_EQ(code(pipes.call("6", "tools/call", modern(name))), -32021);
}

}  // namespace
}  // namespace skein::test
