#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <mutex>

#include "rpc/mcp_client.h"
#include "support/expect.h"
#include "support/loopback_server.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Connection = LoopbackServer::Connection;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kStream = "text/event-stream";

// A server over HTTP that keeps sessions (2025-11-25), except for what a test does itself.
class Remote {
 public:
  // Answers a request that is not about the session; false: the usual.
  using Do = std::function<bool(Connection&, const std::string& method, const std::string& id)>;

  explicit Remote(Do special = {})
      : special_(std::move(special)), server_([this](Connection& peer) { serve(peer); }) {}

  McpClient client(McpOptions options = {}) {
    ToolServer server{.name = "remote", .url = server_.url() + "/mcp?key=hidden"};
    server.headers = {{"Authorization", "Bearer secret"}};
    return {std::move(server), std::move(options), http_};
  }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  void forget_session() {
    const std::lock_guard lock(mutex_);
    session_ = "second";
  }

  static std::string result(const std::string& id, const std::string& text) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"content":[{"type":"text","text":")" +
           text + R"("}]}})";
  }
  static std::string event(const std::string& data, const std::string& more = "") {
    return more + "data: " + data + "\n\n";
  }

 private:
  void serve(Connection& peer) {
    for (std::string request = peer.read_request(); !request.empty();
         request = peer.read_request()) {
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      if (!serve_one(peer, request)) return;
    }
  }

  bool serve_one(Connection& peer, const std::string& request) {
    std::string session;
    {
      const std::lock_guard lock(mutex_);
      session = session_;
    }
    const bool knows_us = request.find("Mcp-Session-Id: " + session) != std::string::npos;
    if (request.starts_with("DELETE")) return peer.answer(200, kJson, "");
    if (request.starts_with("GET")) return special_ && !special_(peer, "GET", "");
    const auto message = boost::json::parse(request.substr(request.find("\r\n\r\n") + 4));
    const auto* method_value = message.as_object().if_contains("method");
    const std::string method = method_value ? std::string(method_value->as_string()) : "answer";
    const auto* id_value = message.as_object().if_contains("id");
    const std::string id = id_value ? boost::json::serialize(*id_value) : "";
    if (method == "server/discover") return peer.answer(400, "text/plain", "no session");
    if (method == "initialize") {
      return peer.answer(200, kJson,
                         R"({"jsonrpc":"2.0","id":)" + id +
                             R"(,"result":{"protocolVersion":"2025-11-25","capabilities":)"
                             R"({"tools":{}},"serverInfo":{"name":"r","version":"1"}}})",
                         "Mcp-Session-Id: " + session + "\r\n");
    }
    if (!knows_us) return peer.answer(404, kJson, "");
    if (special_ && special_(peer, method, id)) return false;
    if (id.empty() || method == "answer") return peer.answer(202, kJson, "");
    return peer.answer(200, kJson, result(id, "plain"));
  }

  const Do special_;
  std::mutex mutex_;
  std::string session_ = "first";      // under mutex_
  std::vector<std::string> requests_;  // under mutex_
  HttpClient http_;
  LoopbackServer server_;
};

Result<McpToolResult> call(McpClient& client, std::stop_token stop = {}) {
  return client.call_tool({.tool = "any", .stop = std::move(stop)});
}

TEST(McpOverHttp, CarriesSessionVersionAndHeadersAndEndsTheSession) {
  Remote remote;
  {
    McpClient client = remote.client();
    EXPECT_EQ(must(call(client)).text, "plain");
    EXPECT_EQ(client.version(), "2025-11-25");
  }
  const auto requests = remote.requests();
  ASSERT_EQ(requests.size(), 5U);
  EXPECT_THAT(requests[0], AllOf(HasSubstr("MCP-Protocol-Version: 2026-07-28\r\n"),
                                 HasSubstr("Mcp-Method: server/discover\r\n")));
  EXPECT_THAT(requests[1], AllOf(HasSubstr("initialize"), Not(HasSubstr("Mcp-Session-Id")),
                                 Not(HasSubstr("MCP-Protocol-Version"))));
  EXPECT_THAT(requests[2], HasSubstr("notifications/initialized"));
  EXPECT_THAT(requests[3], AllOf(HasSubstr("Mcp-Session-Id: first\r\n"),
                                 HasSubstr("MCP-Protocol-Version: 2025-11-25\r\n"),
                                 HasSubstr("Accept: application/json, text/event-stream\r\n"),
                                 HasSubstr("Authorization: Bearer secret\r\n")));
  EXPECT_THAT(requests[4],
              AllOf(StartsWith("DELETE /mcp"), HasSubstr("Mcp-Session-Id: first\r\n")));
}

TEST(McpOverHttp, BeginsAnewWhenTheServerForgotTheSession) {
  Remote remote;
  McpClient client = remote.client();
  EXPECT_EQ(must(call(client)).text, "plain");
  remote.forget_session();
  EXPECT_EQ(must(call(client)).text, "plain");
  EXPECT_THAT(remote.requests().back(), HasSubstr("Mcp-Session-Id: second\r\n"));
}

TEST(McpOverHttp, TakesAnAnswerFromAStreamAndAnswersWhatIsAskedOnIt) {
  Remote remote([](Connection& peer, const std::string& method, const std::string& id) {
    if (method != "tools/call") return false;
    peer.begin(200, kStream);
    peer.send(": hello\n\n");
    peer.send(Remote::event(R"({"jsonrpc":"2.0","id":"q","method":"ping"})"));
    peer.send(Remote::event(R"({"jsonrpc":"2.0","method":"notifications/progress","params":)"
                            R"({"progressToken":)" +
                            id + R"(,"progress":0.5}})"));
    peer.send(Remote::event(Remote::result("999", "not ours")));
    peer.send(Remote::event(Remote::result(id, "streamed"), "event: message\nid: 1\n"));
    peer.wait_for_close();
    return true;
  });
  McpClient client = remote.client();
  double progress = 0;
  McpCall asked{.tool = "any"};
  asked.on_progress = [&](const McpProgress& told) { progress = told.progress; };
  EXPECT_EQ(must(client.call_tool(asked)).text, "streamed");
  EXPECT_EQ(progress, 0.5);
  EXPECT_THAT(remote.requests().back(), HasSubstr(R"({"jsonrpc":"2.0","id":"q","result":{}})"));
}

TEST(McpOverHttp, TakesUpAStreamThatWasCutWhereItsEventsHaveIds) {
  std::mutex mutex;
  std::string asked_id;
  Remote remote([&](Connection& peer, const std::string& method, const std::string& id) {
    const std::lock_guard lock(mutex);
    if (method == "tools/call") {
      asked_id = id;
      peer.begin(200, kStream);
      peer.send("id: one\nretry: 1\ndata:\n\n");
      return true;
    }
    if (method != "GET") return false;
    peer.begin(200, kStream);
    peer.send(Remote::event(Remote::result(asked_id, "resumed"), "id: two\n"));
    return true;
  });
  McpClient client = remote.client();
  EXPECT_EQ(must(call(client)).text, "resumed");
  EXPECT_THAT(remote.requests().back(),
              AllOf(StartsWith("GET /mcp"), HasSubstr("Last-Event-ID: one\r\n"),
                    HasSubstr("Mcp-Session-Id: first\r\n")));
}

TEST(McpOverHttp, SaysThatAStreamEndedWithoutAnAnswer) {
  Remote remote([](Connection& peer, const std::string& method, const std::string&) {
    if (method != "tools/call") return false;
    peer.begin(200, kStream);
    peer.send(": nothing\n\n");
    return true;
  });
  McpClient client = remote.client();
  EXPECT_TRUE(fails(call(client), ErrorCode::kIo, {"remote", "tools/call", "without an answer"}));
}

TEST(McpOverHttp, BearsEveryKindOfBadAnswer) {
  std::mutex mutex;
  std::string said;
  int status = 200;
  Remote remote([&](Connection& peer, const std::string& method, const std::string&) {
    if (method != "tools/call") return false;
    const std::lock_guard lock(mutex);
    peer.answer(status, kJson, said);
    return true;
  });
  McpClient client = remote.client();
  const auto answer_with = [&](int next_status, std::string body) {
    {
      const std::lock_guard lock(mutex);
      status = next_status;
      said = std::move(body);
    }
    return call(client);
  };
  EXPECT_TRUE(fails(answer_with(200, "{\"jsonrpc\":"), ErrorCode::kInvalid, {"malformed"}));
  EXPECT_TRUE(fails(answer_with(200, ""), ErrorCode::kInvalid, {"without an answer"}));
  EXPECT_TRUE(fails(answer_with(200, "[]"), ErrorCode::kInvalid, {"malformed"}));
  EXPECT_TRUE(
      fails(answer_with(200, std::string((16 << 20) + 1, ' ')), ErrorCode::kInvalid, {"16777216"}));
  EXPECT_TRUE(fails(answer_with(500, "<html>oops</html>"), ErrorCode::kInvalid, {"500", "oops"}));
  EXPECT_TRUE(fails(answer_with(401, ""), ErrorCode::kInvalid, {"401"}));
  EXPECT_TRUE(fails(answer_with(503, ""), ErrorCode::kBusy, {"503"}));
  const auto refused = answer_with(
      400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: why"}})");
  EXPECT_TRUE(fails(refused, ErrorCode::kInvalid, {"Bad Request: why", "-32000"}));
  EXPECT_THAT(refused.error().message, AllOf(Not(HasSubstr("secret")), Not(HasSubstr("hidden"))));
}

TEST(McpOverHttp, GivesUpInTimeOrWhenStoppedAndTellsTheServer) {
  std::stop_source source;
  std::atomic<bool> stop = false;
  Remote remote([&](Connection& peer, const std::string& method, const std::string&) {
    if (method != "tools/call") return false;
    if (stop) source.request_stop();
    peer.wait_for_close();
    return true;
  });
  McpClient hurried = remote.client({.idle = 100ms});
  EXPECT_TRUE(fails(call(hurried), ErrorCode::kBusy, {"remote", "tools/call", "100 ms"}));
  EXPECT_THAT(remote.requests().back(), HasSubstr("notifications/cancelled"));
  stop = true;
  McpClient patient = remote.client();
  EXPECT_TRUE(fails(call(patient, source.get_token()), ErrorCode::kConflict, {"stopped"}));
  EXPECT_THAT(remote.requests().back(), HasSubstr("notifications/cancelled"));
}

TEST(McpOverHttp, NamesAServerThatCannotBeReached) {
  HttpClient http;
  McpClient client({.name = "far", .url = "http://127.0.0.1:1/mcp"}, {}, http);
  EXPECT_TRUE(fails(client.list_tools(), ErrorCode::kIo, {"far", "http://127.0.0.1:1/mcp"}));
}

}  // namespace
}  // namespace skein::test
