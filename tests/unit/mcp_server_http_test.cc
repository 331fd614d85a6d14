// Streamable HTTP without the HTTP: what is answered, with which status, and how streams go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <condition_variable>
#include <future>

#include "mcp/fixtures.h"
#include "mcp/http_server.h"
#include "rpc/mcp_protocol.h"
#include "support/expect.h"
#include "support/mcp_stdio.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// Takes frames as they come.
class Reader {
 public:
  explicit Reader(std::shared_ptr<mcp::Outbox> outbox) : outbox_(std::move(outbox)) {
    outbox_->on_more([this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    });
  }
  ~Reader() { outbox_->abandon(); }

  // The next frame, waiting for it; empty at the end.
  std::string next() {
    while (frames_.empty()) {
      auto taken = outbox_->take(1);
      for (std::string& frame : taken.frames) frames_.push_back(std::move(frame));
      if (!frames_.empty()) break;
      if (taken.ended) return {};
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, 60s, [this] { return woken_; })) {
        ADD_FAILURE() << "nothing comes";
        return {};
      }
      woken_ = false;
    }
    std::string frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }

 private:
  const std::shared_ptr<mcp::Outbox> outbox_;
  std::deque<std::string> frames_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

std::string field(const std::string& frame, const std::string& name) {
  const std::size_t begin = frame.find(name + ": ");
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + name.size() + 2;
  return frame.substr(from, frame.find('\n', from) - from);
}

boost::json::value message_of(const std::string& frame) {
  return boost::json::parse(field(frame, "data"));
}

class McpOverHttpParts : public testing::Test {
 protected:
  McpOverHttpParts()
      : workspace_({.settings = mcp_settings(folder_.path())}),
        server_(workspace_, catalogue(), {.lists_change = true}),
        http_(server_, random_ids()) {
    hooks_.tools_changed = [this] { server_.watch().tools_changed(); };
  }

  mcp::Catalogue catalogue() {
    mcp::Catalogue all = mcp::workspace_catalogue(workspace_);
    mcp::add_fixtures(all, hooks_);
    all.tools.push_back({.name = "waits",
                         .title = "Waits",
                         .description = "Returns when it is asked to stop",
                         .read_only = true,
                         .run = [this](const mcp::Arguments&, const mcp::Exchange& exchange) {
                           waits_ = true;
                           while (!exchange.stop.stop_requested()) std::this_thread::yield();
                           return mcp::ToolOutcome(mcp::ToolAnswer{.text = "stopped"});
                         }});
    return all;
  }

  mcp::HttpReply ask(mcp::HttpAsked asked) {
    auto promise = std::make_shared<std::promise<mcp::HttpReply>>();
    auto reply = promise->get_future();
    http_.handle(std::move(asked),
                 [promise](mcp::HttpReply given) { promise->set_value(std::move(given)); });
    if (reply.wait_for(60s) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return reply.get();
  }

  static mcp::HttpAsked asked(std::string method, std::string body,
                              std::vector<HttpHeader> headers = {}) {
    headers.push_back({"Content-Type", "application/json"});
    headers.push_back({"Accept", "application/json, text/event-stream"});
    return {std::move(method), std::move(headers), std::move(body), {}};
  }

  static std::string request(std::string_view id, std::string_view method,
                             std::string_view params) {
    return std::string(R"({"jsonrpc":"2.0","id":)")
        .append(id)
        .append(R"(,"method":")")
        .append(method)
        .append(R"(","params":)")
        .append(params)
        .append("}");
  }

  // A request of 2026-07-28, with all its headers; `name` empty: without Mcp-Name.
  static mcp::HttpAsked modern(std::string_view method, std::string_view members = {},
                               const std::string& name = {}) {
    std::vector<HttpHeader> headers = {{"MCP-Protocol-Version", "2026-07-28"},
                                       {"Mcp-Method", std::string(method)}};
    if (!name.empty()) headers.push_back({"Mcp-Name", name});
    return asked("POST",
                 request("1", method,
                         "{" + std::string(members) + (members.empty() ? "" : ",") +
                             std::string(kModernMeta) + "}"),
                 headers);
  }

  // A session of 2025-11-25; its headers.
  std::vector<HttpHeader> begin(const std::string& version = "2025-11-25") {
    const auto reply = ask(asked("POST", request("0", "initialize",
                                                 R"({"protocolVersion":")" + version +
                                                     R"(","capabilities":{"sampling":{}}})")));
    EXPECT_EQ(reply.status, 200);
    for (const HttpHeader& header : reply.headers) {
      if (header.name == "Mcp-Session-Id") {
        return {header, {"MCP-Protocol-Version", version}};
      }
    }
    ADD_FAILURE() << "no session";
    return {};
  }

  static std::int64_t code(const mcp::HttpReply& reply) {
    return boost::json::parse(reply.body).at("error").at("code").as_int64();
  }

  TempDir folder_;
  std::atomic<bool> waits_{false};
  mcp::FixtureHooks hooks_;
  mcp::Workspace workspace_;
  mcp::Server server_;
  mcp::HttpServer http_;
};

TEST_F(McpOverHttpParts, AnswersAModernRequestByItself) {
  const auto reply = ask(modern("tools/call", R"("name":"list_threads")", "list_threads"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(boost::json::parse(reply.body).at_pointer("/result/structuredContent/total_open"), 0);
}

TEST_F(McpOverHttpParts, RefusesHeadersThatSayOtherThanTheBody) {
  const auto wrong = [this](mcp::HttpAsked wanted) {
    const auto reply = ask(std::move(wanted));
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_EQ(code(reply), kMcpHeaderMismatch) << reply.body;
    EXPECT_EQ(boost::json::parse(reply.body).at("id"), 1);
  };
  const std::string call = R"("name":"list_threads")";
  wrong(modern("tools/call", call));
  wrong(modern("tools/call", call, "create_thread"));
  wrong(modern("tools/call", call, "=?base64?!!?="));
  auto other = modern("tools/list");
  other.headers[1].value = "TOOLS/LIST";
  wrong(other);
  other.headers.erase(other.headers.begin() + 1);
  wrong(other);
  auto older = modern("tools/list");
  older.headers[0].value = "2025-11-25";
  wrong(older);
  older.headers.erase(older.headers.begin());
  wrong(older);
  EXPECT_EQ(ask(modern("tools/call", call, "  list_threads\t")).status, 200);
  EXPECT_EQ(ask(modern("tools/call", call, "=?base64?bGlzdF90aHJlYWRz?=")).status, 200);
}

TEST_F(McpOverHttpParts, GivesErrorsTheStatusThatTheProtocolGivesThem) {
  EXPECT_EQ(ask(modern("no/such")).status, 404);
  EXPECT_EQ(ask(modern("ping")).status, 404);
  EXPECT_EQ(ask(modern("initialize")).status, 404);
  EXPECT_EQ(
      ask(modern("tools/call", R"("name":"test_missing_capability")", "test_missing_capability"))
          .status,
      400);
  EXPECT_EQ(ask(modern("resources/read", R"("uri":"skein://x")", "skein://x")).status, 200);
  EXPECT_EQ(ask(asked("POST", "{")).status, 400);
  EXPECT_EQ(ask(asked("POST", "[]")).status, 400);
  const auto bare = ask(
      asked("POST", request("5", "tools/list", "{}"), {{"MCP-Protocol-Version", "2026-07-28"}}));
  EXPECT_EQ(bare.status, 400);
  EXPECT_EQ(code(bare), kRpcInvalidParams);
  EXPECT_EQ(ask({"POST", {{"Content-Type", "text/plain"}}, "{}", {}}).status, 415);
  EXPECT_EQ(ask({"POST",
                 {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                 "{}",
                 {}})
                .status,
            406);
  EXPECT_EQ(ask(asked("PUT", "")).status, 405);
  EXPECT_EQ(ask(asked("GET", "", {{"MCP-Protocol-Version", "2026-07-28"}})).status, 405);
}

TEST_F(McpOverHttpParts, SaysWhatComesAheadOfAnAnswerByAStream) {
  auto wanted = modern("tools/call", "", "test_tool_with_progress");
  wanted.body = request("1", "tools/call",
                        R"({"name":"test_tool_with_progress","_meta":{"progressToken":7,)"
                        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                        R"("io.modelcontextprotocol/clientCapabilities":{}}})");
  const auto reply = ask(wanted);
  ASSERT_TRUE(reply.stream);
  Reader reader(reply.stream);
  for (int i = 0; i < 3; ++i) {
    const std::string frame = reader.next();
    EXPECT_EQ(message_of(frame).at("method"), "notifications/progress");
    EXPECT_EQ(field(frame, "id"), "");
  }
  EXPECT_EQ(message_of(reader.next()).at("id"), 1);
  EXPECT_EQ(reader.next(), "");
}

TEST_F(McpOverHttpParts, ListensUntilTheReaderGoesOrTheServerStops) {
  const auto reply =
      ask(modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
  ASSERT_TRUE(reply.stream);
  Reader reader(reply.stream);
  EXPECT_EQ(message_of(reader.next()).at("method"), "notifications/subscriptions/acknowledged");
  ask(modern("tools/call", R"("name":"test_trigger_tool_change")", "test_trigger_tool_change"));
  EXPECT_EQ(message_of(reader.next()).at("method"), "notifications/tools/list_changed");
  {
    const auto other =
        ask(modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
    Reader gone(other.stream);
    gone.next();
  }
  ask(modern("tools/call", R"("name":"test_trigger_tool_change")", "test_trigger_tool_change"));
  EXPECT_EQ(message_of(reader.next()).at("method"), "notifications/tools/list_changed");
  http_.stop();
  EXPECT_EQ(reader.next(), "");
}

TEST_F(McpOverHttpParts, AsksWhatRunsToStopWhenItStops) {
  const auto session = begin();
  for (const bool with_session : {true, false}) {
    waits_ = false;
    auto wanted = with_session
                      ? asked("POST", request("1", "tools/call", R"({"name":"waits"})"), session)
                      : modern("tools/call", R"("name":"waits")", "waits");
    auto reply = std::async(std::launch::async, [&] { return ask(std::move(wanted)); });
    while (!waits_) std::this_thread::yield();
    if (!with_session) http_.stop();
    if (with_session) ask(asked("DELETE", "", session));
    EXPECT_THAT(reply.get().body, HasSubstr("stopped"));
  }
}

TEST_F(McpOverHttpParts, KeepsASessionFromInitializeToDelete) {
  const auto session = begin();
  EXPECT_EQ(ask(asked("POST", R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session))
                .status,
            202);
  EXPECT_EQ(ask(asked("POST", request("1", "ping", "{}"), session)).status, 200);
  EXPECT_EQ(ask(asked("POST", request("1", "ping", "{}"))).status, 400);
  EXPECT_EQ(ask(asked("POST", request("1", "ping", "{}"), {{"Mcp-Session-Id", "other"}})).status,
            404);
  auto unknown = session;
  unknown[1].value = "2024-01-01";
  EXPECT_EQ(ask(asked("POST", request("1", "ping", "{}"), unknown)).status, 400);
  EXPECT_EQ(ask(asked("DELETE", "", session)).status, 204);
  EXPECT_EQ(ask(asked("POST", request("1", "ping", "{}"), session)).status, 404);
  EXPECT_EQ(ask(asked("DELETE", "", session)).status, 404);
}

TEST_F(McpOverHttpParts, KnowsASessionOnlyByTheKeyThatItBeganWith) {
  const auto session = begin();
  auto other = asked("POST", request("1", "ping", "{}"), session);
  other.caller.key = "another";
  EXPECT_EQ(ask(other).status, 404);
}

TEST_F(McpOverHttpParts, GoesOnWithAStreamThatWasCut) {
  const auto session = begin();
  const auto reply =
      ask(asked("POST", request("1", "tools/call", R"({"name":"test_reconnection"})"), session));
  ASSERT_TRUE(reply.stream);
  std::string last;
  {
    Reader reader(reply.stream);
    const std::string primed = reader.next();
    EXPECT_THAT(primed, HasSubstr("retry: "));
    last = field(primed, "id");
    EXPECT_NE(last, "");
    EXPECT_EQ(reader.next(), "");
  }
  auto again = session;
  again.push_back({"Last-Event-ID", last});
  const auto resumed = ask(asked("GET", "", again));
  ASSERT_TRUE(resumed.stream);
  Reader reader(resumed.stream);
  EXPECT_EQ(message_of(reader.next()).at("id"), 1);
  EXPECT_EQ(reader.next(), "");
  again.back().value = "77-1";
  EXPECT_EQ(ask(asked("GET", "", again)).status, 400);
  // What was read already is not told again.
  again.back().value = last;
  const auto third = ask(asked("GET", "", again));
  Reader later(third.stream);
  EXPECT_EQ(message_of(later.next()).at("id"), 1);
}

TEST_F(McpOverHttpParts, TellsASessionByGetWhatBelongsToNoRequest) {
  const auto session = begin();
  const auto reply = ask(asked("GET", "", session));
  ASSERT_TRUE(reply.stream);
  Reader reader(reply.stream);
  EXPECT_EQ(
      ask(asked("POST", request("1", "resources/subscribe", R"({"uri":"skein://items"})"), session))
          .status,
      200);
  CreateItem item;
  item.text = "Something";
  ASSERT_TRUE(ok(workspace_.items(*must(workspace_.change())).create(item)));
  std::string frame = reader.next();
  while (message_of(frame).at("method") != "notifications/resources/updated") frame = reader.next();
  EXPECT_EQ(message_of(frame).at_pointer("/params/uri"), "skein://items");
  EXPECT_THAT(field(frame, "id"), StartsWith("0-"));
  ask(asked("DELETE", "", session));
  while (!reader.next().empty()) continue;
}

TEST_F(McpOverHttpParts, AsksAClientByTheStreamOfItsRequestAndTakesTheAnswerByPost) {
  const auto session = begin();
  const auto reply = ask(asked(
      "POST",
      request("1", "tools/call", R"({"name":"test_sampling","arguments":{"prompt":"Hello"}})"),
      session));
  ASSERT_TRUE(reply.stream);
  Reader reader(reply.stream);
  EXPECT_THAT(reader.next(), HasSubstr("retry: "));
  const auto question = message_of(reader.next());
  EXPECT_EQ(question.at("method"), "sampling/createMessage");
  EXPECT_EQ(ask(asked("POST",
                      R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(question.at("id")) +
                          R"(,"result":{"said":"hi"}})",
                      session))
                .status,
            202);
  EXPECT_THAT(reader.next(), HasSubstr("LLM response"));
}

TEST_F(McpOverHttpParts, TakesArraysInTheOneVersionThatHasThem) {
  const std::string body = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},5])";
  EXPECT_EQ(ask(asked("POST", body, begin())).status, 400);
  const auto reply = ask(asked("POST", body, begin("2025-03-26")));
  EXPECT_EQ(boost::json::parse(reply.body).as_array().size(), 2U);
}

TEST_F(McpOverHttpParts, LetsAKeyThatMayOnlyReadReadItsAgentsOnly) {
  auto create =
      modern("tools/call", R"("name":"create_thread","arguments":{"text":"x"})", "create_thread");
  create.caller.read_only = "this key may only read";
  EXPECT_THAT(ask(create).body, HasSubstr("this key may only read"));
  const auto made =
      ask(modern("tools/call", R"("name":"create_conversation","arguments":{"agent":"mine"})",
                 "create_conversation"));
  const std::string id(boost::json::parse(made.body)
                           .at_pointer("/result/structuredContent/conversation_id")
                           .as_string());
  auto read = modern(
      "tools/call", R"("name":"read_conversation","arguments":{"conversation_id":")" + id + R"("})",
      "read_conversation");
  EXPECT_THAT(ask(read).body, HasSubstr("\"agentId\":\"mine\""));
  read.caller.all_agents = false;
  read.caller.agents = {"other"};
  EXPECT_THAT(ask(read).body, HasSubstr("there is no thread"));
  auto list = modern("resources/list");
  list.caller = read.caller;
  EXPECT_THAT(ask(list).body, testing::Not(HasSubstr(id)));
}

TEST_F(McpOverHttpParts, SearchCoversTheAgentsOfTheKey) {
  for (const char* agent : {"mine", "yours", "theirs"}) {
    ask(modern("tools/call",
               R"("name":"create_conversation","arguments":{"agent":")" + std::string(agent) +
                   R"(","messages":[{"role":"user","text":"A bittern of )" + agent + R"("}]})",
               "create_conversation"));
  }
  const auto search = [&](const std::string& arguments) {
    auto call = modern("tools/call", R"("name":"search_conversations","arguments":)" + arguments,
                       "search_conversations");
    call.caller.all_agents = false;
    call.caller.agents = {"mine", "yours"};
    return ask(call).body;
  };
  EXPECT_THAT(search(R"({"query":"bittern"})"),
              testing::AllOf(HasSubstr("bittern of mine"), HasSubstr("bittern of yours"),
                             testing::Not(HasSubstr("bittern of theirs"))));
  EXPECT_THAT(
      search(R"({"query":"bittern","agent":"yours"})"),
      testing::AllOf(HasSubstr("bittern of yours"), testing::Not(HasSubstr("bittern of mine"))));
  EXPECT_THAT(search(R"({"query":"bittern","agent":"theirs"})"), HasSubstr("but for"));
}

TEST_F(McpOverHttpParts, AKeyForOneAgentNeedNotNameIt) {
  const auto create = [&](const std::string& arguments) {
    auto call = modern("tools/call", R"("name":"create_conversation","arguments":)" + arguments,
                       "create_conversation");
    call.caller.all_agents = false;
    call.caller.agents = {"mine"};
    return ask(call).body;
  };
  EXPECT_THAT(create("{}"), HasSubstr("\"agentId\":\"mine\""));
  EXPECT_THAT(create(R"({"agent":"other"})"), HasSubstr("but for"));
}

}  // namespace
}  // namespace skein::test
