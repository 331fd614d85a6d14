// Who may do what, and from where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "api/keys.h"
#include "http/origin_rules.h"
#include "http_fixture.h"

namespace skein::test {
namespace {

using http::Access;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

std::string contents(const std::string& path) {
  std::stringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

TEST(HttpKeys, WithoutAnyKeyEverybodyOnThisMachineMayDoEverything) {
  TestServer server(with_test_routes());
  EXPECT_EQ(server.ask("DELETE", "/test/everything").status, 204);
}

TEST(HttpKeys, EveryAccessIsGivenByItsKeysOnly) {
  TestServer server(with_test_routes());
  const std::string thread = new_thread(server, "helper");
  const std::string other = new_thread(server, "other");
  const std::string admin = server.make_key(Access::kAdmin);
  const std::string write = server.make_key(Access::kWrite);
  const std::string read = server.make_key(Access::kRead);
  const std::string helper = server.make_key(Access::kWrite, {"helper"});
  const std::string wrong = "skein_000000000000_" + std::string(40, '0');
  std::string changed = admin;
  changed.back() = changed.back() == '0' ? '1' : '0';

  struct Case {
    const char* method;
    std::string path;
    std::string body;
    // admin, write, read, helper's; no key and wrong ones are always 401
    int expected[4];
  };
  const std::string text = message("hello");
  for (const Case& one : {
           Case{"DELETE", "/test/everything", "", {204, 403, 403, 403}},
           Case{"POST", "/test/echo", "[]", {200, 200, 403, 200}},
           Case{"GET", "/test/large?bytes=1", "", {200, 200, 200, 200}},
           Case{"GET", "/metrics", "", {200, 200, 200, 200}},
           Case{"GET", "/test/agents/helper", "", {204, 204, 204, 204}},
           Case{"GET", "/test/agents/other", "", {204, 204, 204, 403}},
           Case{"POST", "/test/threads/" + thread + "/messages", text, {201, 201, 403, 201}},
           Case{"POST", "/test/threads/" + other + "/messages", text, {201, 201, 403, 404}},
           Case{"GET", "/test/nothing", "", {404, 404, 404, 404}},
       }) {
    const std::string keys[] = {admin, write, read, helper};
    for (std::size_t i = 0; i < 4; ++i) {
      const Answered answered = server.ask(one.method, one.path, one.body, keys[i]);
      EXPECT_EQ(answered.status, one.expected[i]) << one.path << " with key " << i << answered;
    }
    for (const std::string& bad : {std::string(), wrong, changed, std::string("x"), admin + "0"}) {
      const Answered answered = server.ask(one.method, one.path, one.body, bad);
      EXPECT_EQ(answered.status, 401) << one.path << " with " << bad;
      EXPECT_THAT(answered.header("www-authenticate"), HasSubstr("Bearer"));
    }
  }
  EXPECT_EQ(server.ask("GET", "/healthz").status, 200);
  EXPECT_EQ(server.ask("GET", "/readyz").status, 200);
  // What was refused did nothing: admin, write, and helper's own.
  EXPECT_EQ(server.service().threads().get(thread)->value().last_seq, 3U);
  EXPECT_EQ(server.service().threads().get(other)->value().last_seq, 2U);
}

TEST(HttpKeys, AThreadOfAnotherAgentIsAnsweredLikeOneThatIsNotThere) {
  TestServer server(with_test_routes());
  const std::string other = new_thread(server, "other");
  const std::string key = server.make_key(Access::kWrite, {"helper"});
  const auto asked = [&](const std::string& thread) {
    Answered answered =
        server.ask("POST", "/test/threads/" + thread + "/messages", message("x"), key);
    const std::string detail(answered.json().at("detail").as_string());
    return std::to_string(answered.status) + detail.substr(0, detail.find('"'));
  };
  EXPECT_EQ(asked(other), asked("000000000000"));
}

TEST(HttpKeys, AKeyIsTakenFromEitherHeader) {
  TestServer server(with_test_routes());
  const std::string key = server.make_key(Access::kRead);
  HttpConnection connection(server.port());
  const auto status = [&](const char* name, const std::string& value) {
    return connection.ask("GET", "/metrics", {}, {{name, value}}).status;
  };
  EXPECT_EQ(status("X-Api-Key", key), 200);
  EXPECT_EQ(status("x-api-key", key), 200);
  EXPECT_EQ(status("Authorization", "Bearer " + key), 200);
  EXPECT_EQ(status("authorization", "bearer " + key), 200);
  EXPECT_EQ(status("Authorization", "Basic " + key), 401);
  EXPECT_EQ(status("Cookie", key), 401);
}

TEST(HttpKeys, ARevokedKeyIsWorthlessAndTheServerStaysClosed) {
  TestServer server(with_test_routes());
  const std::string key = server.make_key(Access::kAdmin);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 200);
  ApiKeys keys = server.keys();
  ASSERT_TRUE(keys.revoke(id_of_key(key)).has_value());
  // Without being told.
  while (server.ask("GET", "/metrics", {}, key).status == 200) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 401);
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
}

TEST(HttpKeys, AreKeptAsHashesOnly) {
  TestServer server(with_test_routes());
  const std::string key = server.make_key(Access::kAdmin);
  ScanRange range;
  range.collection = "keys";
  const auto records = server.store().scan(range);
  ASSERT_TRUE(records.has_value());
  ASSERT_EQ(records->size(), 1U);
  EXPECT_THAT(records->front().bytes, Not(HasSubstr(key.substr(19))));
}

TEST(HttpKeys, RefuseWhatMakesNoSense) {
  TestServer server(with_test_routes());
  ApiKeys keys = server.keys();
  EXPECT_FALSE(keys.create({.access = "root"}).has_value());
  EXPECT_FALSE(keys.create({.access = "admin", .agents = {"helper"}}).has_value());
  EXPECT_FALSE(keys.create({.access = "read", .agents = {"../x"}}).has_value());
  EXPECT_FALSE(keys.create({.name = "a\nb", .access = "read"}).has_value());
  EXPECT_EQ(keys.revoke("000000000000").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(keys.list()->empty());
}

TEST(HttpKeys, AnotherAddressThanLoopbackNeedsThem) {
  TestServer::Setup setup;
  setup.backend = "memory";
  const TestServer local(std::move(setup));
  TempDir folder;
  auto store = open_store("memory:");
  const auto start = [&] {
    http::Server::Parts parts;
    parts.settings.workspace = folder.path();
    parts.settings.store_url = "memory:";
    parts.options.address = "0.0.0.0";
    parts.options.port = 0;
    return http::Server::start(**store, std::move(parts));
  };
  const auto refused = start();
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("skein key create"));
  ASSERT_TRUE(ApiKeys(**store, system_clock(), random_ids()).create({.access = "read"}));
  const auto started = start();
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_EQ(HttpConnection((*started)->port()).ask("GET", "/metrics").status, 401);
}

TEST(HttpKeys, EachWriteLeavesALineOfAudit) {
  TempDir folder;
  http::ServerOptions options;
  options.audit_file = (folder.path() / "audit.log").string();
  std::string thread;
  std::string key;
  {
    TestServer server(with_test_routes(options));
    thread = new_thread(server);
    key = server.make_key(Access::kWrite);
    EXPECT_EQ(server.ask("POST", "/test/threads/" + thread + "/messages", message("x"), key).status,
              201);
    EXPECT_EQ(server.ask("DELETE", "/test/everything", {}, key).status, 403);
    EXPECT_EQ(server.ask("GET", "/test/large?bytes=1", {}, key).status, 200);
    EXPECT_EQ(server.ask("DELETE", "/test/everything?nobody").status, 401);
    EXPECT_EQ(HttpConnection(server.port())
                  .ask("POST", "/test/echo", "[]", {{"Origin", "https://evil.example.org"}})
                  .status,
              403);
  }
  const std::string lines = contents(options.audit_file);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 4) << lines;
  EXPECT_THAT(lines.substr(0, lines.find('\n')), HasSubstr("the server starts"));
  EXPECT_THAT(lines, HasSubstr(thread));
  EXPECT_THAT(lines, HasSubstr(std::string(id_of_key(key))));
  EXPECT_THAT(lines, HasSubstr("\"route\":\"everything\",\"status\":403"));
  EXPECT_THAT(lines, HasSubstr("\"route\":\"everything\",\"status\":401"));
  EXPECT_THAT(lines, HasSubstr("\"route\":\"echo\",\"status\":403"));
  EXPECT_THAT(lines, Not(HasSubstr(key)));
}

// Once nobody but who asks is connected.
void wait_until_alone(TestServer& server) {
  while (server.ask("GET", "/metrics").body.find("\nskein_http_connections 1\n") ==
         std::string::npos) {
    std::this_thread::sleep_for(5ms);
  }
}

TEST(HttpKeys, AWriteLeavesALineOfAuditAlsoWhenItsClientWentAway) {
  TempDir folder;
  http::ServerOptions options;
  options.audit_file = (folder.path() / "audit.log").string();
  TestServer::Setup setup = with_test_routes(options);
  std::atomic<bool> go{false};
  std::atomic<bool> abandoned{false};
  auto& routes = setup.more_routes[0].routes;
  routes.push_back(route("POST", "/test/slow", "slow", Access::kWrite,
                         [&](Service&, http::Request&) -> http::Reply {
                           go.wait(false);
                           return http::no_content();
                         }));
  routes.push_back(route(
      "POST", "/test/never", "never", Access::kWrite, [&](Service&, http::Request&) -> http::Reply {
        http::Waiting waiting;
        waiting.topics = {Topic::all()};
        waiting.poll = []() -> tl::expected<std::optional<http::Response>, http::Problem> {
          return std::optional<http::Response>();
        };
        waiting.abandoned = [&] { abandoned = true; };
        return http::wait_for(std::move(waiting));
      }));
  {
    TestServer server(std::move(setup));
    HttpConnection(server.port()).send_request("POST", "/test/slow");
    wait_until_alone(server);
    go = true;
    go.notify_all();
    HttpConnection(server.port()).send_request("POST", "/test/never");
    while (!abandoned) std::this_thread::sleep_for(1ms);
  }
  const std::string lines = contents(options.audit_file);
  EXPECT_THAT(lines, HasSubstr("\"route\":\"slow\",\"status\":204"));
  EXPECT_THAT(lines, HasSubstr("\"route\":\"never\",\"status\":499"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 2) << lines;
}

TEST(HttpKeys, AWriteWhoseBodyDoesNotComeLeavesALineOfAudit) {
  TempDir folder;
  http::ServerOptions options;
  options.audit_file = (folder.path() / "audit.log").string();
  options.body_timeout = 1ms;
  const std::string head =
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::string some = head + "Content-Length: 9\r\n\r\n[1";
  {
    TestServer server(with_test_routes(options));
    HttpConnection slow(server.port());
    slow.send(some);
    EXPECT_EQ(slow.read_answer().status, 408);
    HttpConnection wrong(server.port());
    wrong.send(head + "Transfer-Encoding: chunked\r\n\r\nnone\r\n");
    EXPECT_EQ(wrong.read_answer().status, 400);
  }
  options.body_timeout = 1min;
  {
    TestServer server(with_test_routes(options));
    HttpConnection(server.port()).send(some);
    wait_until_alone(server);
    HttpConnection stopped(server.port());
    stopped.send(some);
    while (server.ask("GET", "/metrics").body.find("\nskein_http_under_way 2\n") ==
           std::string::npos) {
      std::this_thread::sleep_for(1ms);
    }
    server.server().stop();
    EXPECT_EQ(stopped.read_answer().status, 503);
  }
  const std::string lines = contents(options.audit_file);
  for (const char* status : {"408", "400", "499", "503"}) {
    EXPECT_THAT(lines, HasSubstr(std::string("\"route\":\"echo\",\"status\":") + status));
  }
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2 + 4) << lines;
}

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
    R"("capabilities":{},"clientInfo":{"name":"x","version":"1"}}})";

TEST(HttpKeys, EachMessageOfMcpLeavesALineOfAudit) {
  TempDir folder;
  http::ServerOptions options;
  options.audit_file = (folder.path() / "audit.log").string();
  {
    TestServer server(with_test_routes(options));
    EXPECT_EQ(
        HttpConnection(server.port())
            .ask("POST", "/mcp", kInitialize, {{"Accept", "application/json, text/event-stream"}})
            .status,
        200);
    EXPECT_EQ(server.ask("DELETE", "/mcp").status, 400);
    EXPECT_EQ(server.ask("GET", "/mcp").status, 400);
  }
  const std::string lines = contents(options.audit_file);
  EXPECT_THAT(lines, HasSubstr("\"route\":\"mcpMessage\",\"status\":200"));
  EXPECT_THAT(lines, HasSubstr("\"route\":\"mcpEnd\",\"status\":400"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 2) << lines;
}

TEST(HttpKeys, WhatCannotBeNotedIsNotDone) {
  http::ServerOptions options;
  options.audit_file = "/dev/full";
  TestServer server(with_test_routes(options));
  EXPECT_EQ(server.ask("POST", "/test/echo", "[]").status, 503);
  EXPECT_EQ(server.ask("POST", "/test/echo", "[]").status, 503);
  EXPECT_EQ(server.ask("GET", "/test/large?bytes=1").status, 200);
}

TEST(HttpKeys, MessagesOfMcpThatCannotBeNotedMayOnlyRead) {
  http::ServerOptions options;
  options.audit_file = "/dev/full";
  TestServer server(with_test_routes(options));
  std::vector<HttpHeader> headers = {{"Accept", "application/json, text/event-stream"}};
  HttpConnection connection(server.port());
  const Answered begun = connection.ask("POST", "/mcp", kInitialize, headers);
  EXPECT_EQ(begun.status, 200);
  headers.push_back({"Mcp-Session-Id", begun.header("mcp-session-id")});
  const auto call = [&](const std::string& tool) {
    return connection
        .ask("POST", "/mcp",
             R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":")" + tool + "\"}}",
             headers)
        .body;
  };
  EXPECT_THAT(call("list_threads"), HasSubstr("\"total_open\":0"));
  EXPECT_THAT(call("create_conversation"), HasSubstr("cannot write"));
  EXPECT_TRUE(server.store().list({})->threads.empty());
}

TEST(HttpOrigins, ARequestMustBeForANameOfTheServer) {
  http::ServerOptions options;
  options.hosts = {"skein.example.org"};
  TestServer server(with_test_routes(options));
  const auto status = [&](const std::string& host) {
    return HttpConnection(server.port()).ask("GET", "/metrics", {}, {{"Host", host}}).status;
  };
  for (const char* good :
       {"localhost", "localhost:7171", "LOCALHOST", "127.0.0.1:80", "[::1]:80", "127.9.9.9",
        "skein.example.org", "Skein.Example.org:443", "app.localhost"}) {
    EXPECT_EQ(status(good), 200) << good;
  }
  for (const char* bad : {"evil.example.org", "localhost.evil.example.org", "10.0.0.1",
                          "localhost:80x", "127.0.0.1.evil.org", "[::2]", "", "0.0.0.0",
                          "[::1].evil.org", "[::1]80", "[::1]:80x", "[::1"}) {
    EXPECT_EQ(status(bad), 421) << bad;
  }
}

TEST(HttpOrigins, PagesOfOthersAreRefusedUnlessTheyAreNamed) {
  http::ServerOptions options;
  options.origins = {"https://app.example.org"};
  TestServer server(with_test_routes(options));
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  const auto asked = [&](const std::string& origin) {
    return HttpConnection(server.port())
        .ask("POST", "/test/echo", "[]", {{"Host", host}, {"Origin", origin}});
  };
  for (const char* bad : {"https://evil.example.org", "null", "http://localhost:1",
                          "https://app.example.org.evil.org", "https://app.example.org:444"}) {
    EXPECT_EQ(asked(bad).status, 403) << bad;
  }
  EXPECT_EQ(asked("http://" + host).status, 200);
  EXPECT_EQ(asked("http://" + host).header("access-control-allow-origin"), "");
  const Answered named = asked("https://app.example.org");
  EXPECT_EQ(named.status, 200);
  EXPECT_EQ(named.header("access-control-allow-origin"), "https://app.example.org");
  EXPECT_EQ(named.header("vary"), "Origin");

  HttpConnection connection(server.port());
  const Answered preflight = connection.ask(
      "OPTIONS", "/test/echo", {},
      {{"Origin", "https://app.example.org"}, {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_THAT(preflight.header("access-control-allow-methods"), HasSubstr("POST"));
}

TEST(HttpOrigins, WithoutConfigurationThereIsNoCors) {
  TestServer server(with_test_routes());
  HttpConnection connection(server.port());
  const Answered preflight = connection.ask(
      "OPTIONS", "/test/echo", {},
      {{"Origin", "https://app.example.org"}, {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(preflight.status, 403);
  EXPECT_EQ(preflight.header("access-control-allow-origin"), "");
}

TEST(HttpOrigins, LoopbackIsKnownByItsAddress) {
  for (const char* yes : {"127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(http::is_loopback(yes));
  for (const char* no : {"0.0.0.0", "128.0.0.1", "::", "localhost", "::ffff:10.0.0.1", ""}) {
    EXPECT_FALSE(http::is_loopback(no)) << no;
  }
}

}  // namespace
}  // namespace skein::test
