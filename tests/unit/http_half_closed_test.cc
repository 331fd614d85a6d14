// Clients that send nothing more and still read, and those that are gone: both end what they send
// in the same way.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "http_fixture.h"

namespace skein::test {
namespace {

using http::Access;
using namespace std::chrono_literals;

class HttpHalfClosed : public testing::Test {
 protected:
  // More than a client's system takes that does not read, less than the server's does.
  static constexpr std::size_t kLarge = std::size_t{1} << 20;

  explicit HttpHalfClosed(http::ServerOptions options = {}) : server_(setup(options)) {}

  TestServer::Setup setup(const http::ServerOptions& options) {
    TestServer::Setup made = with_test_routes(options);
    auto& routes = made.more_routes[0].routes;
    routes.push_back(route("POST", "/test/slow", "slow", Access::kWrite,
                           [this](Service&, http::Request&) -> http::Reply {
                             go_.wait(false);
                             return http::json_response(std::string("\"done\""));
                           }));
    routes.push_back(route("POST", "/test/slow/large", "slowLarge", Access::kWrite,
                           [this](Service&, http::Request&) -> http::Reply {
                             go_.wait(false);
                             return http::json_response(std::string(kLarge, ' '));
                           }));
    routes.push_back(route("POST", "/test/waits", "waits", Access::kWrite,
                           [this](Service&, http::Request&) -> http::Reply {
                             http::Waiting waiting;
                             waiting.topics = {Topic::all()};
                             waiting.poll = [this] { return poll(); };
                             waiting.abandoned = [this] { abandoned_ = true; };
                             return http::wait_for(std::move(waiting));
                           }));
    return made;
  }
  ~HttpHalfClosed() override { go(); }

  tl::expected<std::optional<http::Response>, http::Problem> poll() const {
    if (!go_) return std::nullopt;
    return std::optional(http::json_response(std::string("\"done\"")));
  }
  void go() {
    go_ = true;
    go_.notify_all();
  }
  // The server has seen what was sent before this.
  void let_it_see() {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(server_.ask("GET", "/healthz").status, 200);
  }

  // Until the metrics say that; from a connection of its own.
  void wait_for_metric(const std::string& line) {
    while (server_.ask("GET", "/metrics").body.find("\n" + line + "\n") == std::string::npos) {
      std::this_thread::sleep_for(5ms);
    }
  }

  std::atomic<bool> go_{false};
  std::atomic<bool> abandoned_{false};
  TestServer server_;
};

TEST_F(HttpHalfClosed, WhoeverOnlyReadsGetsTheAnswer) {
  for (const char* version : {"1.1", "1.0"}) {
    go_ = false;
    HttpConnection connection(server_.port());
    connection.send(std::string("POST /test/slow HTTP/") + version +
                    "\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    connection.end_sending();
    let_it_see();
    go();
    EXPECT_EQ(connection.read_answer().body, "\"done\"") << version;
    EXPECT_TRUE(connection.wait_for_close());
  }
}

TEST_F(HttpHalfClosed, AllRequestsThatCameBeforeAreAnswered) {
  HttpConnection connection(server_.port());
  connection.send_request("POST", "/test/slow");
  for (const char* body : {"[1]", "[2]", "[3]"}) {
    connection.send_request("POST", "/test/echo", body);
  }
  connection.end_sending();
  let_it_see();
  go();
  EXPECT_EQ(connection.read_answer().body, "\"done\"");
  for (const char* body : {"[1]", "[2]", "[3]"}) EXPECT_EQ(connection.read_answer().body, body);
  EXPECT_TRUE(connection.wait_for_close());
}

TEST_F(HttpHalfClosed, WhatNobodyReadsOfARequestDoesNotCostTheAnswer) {
  HttpConnection connection(server_.port());
  connection.send_request("POST", "/test/slow/large", "", {{"Connection", "close"}});
  let_it_see();
  connection.send("more");
  let_it_see();
  connection.end_sending();
  let_it_see();
  go();
  wait_for_metric("skein_http_connections 1");  // the server has left it to its system
  EXPECT_EQ(connection.read_answer().body.size(), kLarge);
  EXPECT_TRUE(connection.wait_for_close());
}

TEST_F(HttpHalfClosed, ARequestThatIsNotWholeIsLeft) {
  for (const char* text : {"POST /test/ec",
                           "POST /test/echo HTTP/1.1\r\nHost: localhost\r\n"
                           "Content-Type: application/json\r\n"
                           "Content-Length: 9\r\n\r\n[1"}) {
    HttpConnection connection(server_.port());
    connection.send(text);
    connection.end_sending();
    EXPECT_EQ(connection.read_answer().status, 0);
  }
}

TEST_F(HttpHalfClosed, WhoeverReadsAStreamIsToldMore) {
  const std::string thread = new_thread(server_);
  const std::string path = "/test/threads/" + thread;
  HttpConnection reader(server_.port());
  reader.send_request("GET", path + "/events");
  reader.end_sending();
  EXPECT_EQ(reader.read_head().status, 200);
  let_it_see();
  for (const char* text : {"one", "two"}) {
    EXPECT_EQ(server_.ask("POST", path + "/messages", message(text)).status, 201);
    const auto event = reader.next_event();
    ASSERT_TRUE(event.has_value());
    EXPECT_NE(event->data.find(text), std::string::npos);
  }
}

TEST_F(HttpHalfClosed, AReaderOfAStreamThatIsGoneIsNoticed) {
  const std::string path = "/test/threads/" + new_thread(server_) + "/events";
  {
    HttpConnection reader(server_.port());
    reader.send_request("GET", path);
    EXPECT_EQ(reader.read_head().status, 200);
  }
  // Sooner than the next heartbeat would be.
  const auto until = std::chrono::steady_clock::now() + http::ServerOptions().heartbeat - 1s;
  while (server_.ask("GET", "/metrics").body.find("\nskein_http_streams 0\n") ==
         std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    std::this_thread::sleep_for(5ms);
  }
}

TEST_F(HttpHalfClosed, WhoeverWaitsIsAskedIfItKnowsThatAndGetsTheAnswer) {
  HttpConnection old(server_.port());
  old.send("POST /test/waits HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  old.end_sending();
  let_it_see();
  HttpConnection connection(server_.port());
  connection.send_request("POST", "/test/waits");
  connection.end_sending();
  EXPECT_EQ(connection.read_head().status, 102);
  let_it_see();  // whoever came before was looked at too
  EXPECT_FALSE(abandoned_);
  go();
  new_thread(server_);  // so that everybody looks again
  EXPECT_EQ(connection.read_answer().body, "\"done\"");
  EXPECT_EQ(old.read_answer().body, "\"done\"");
  EXPECT_FALSE(abandoned_);
}

TEST_F(HttpHalfClosed, WhoeverWaitedAndIsGoneIsNoticed) {
  HttpConnection(server_.port()).send_request("POST", "/test/waits");
  while (!abandoned_) std::this_thread::sleep_for(5ms);
}

class HttpEarlyRequests : public HttpHalfClosed {
 protected:
  static http::ServerOptions options() {
    http::ServerOptions often;
    often.heartbeat = 300ms;
    return often;
  }
  HttpEarlyRequests() : HttpHalfClosed(options()) {}
};

TEST_F(HttpEarlyRequests, DoNotHideThatTheirClientIsGone) {
  {
    HttpConnection connection(server_.port());
    connection.send_request("POST", "/test/waits");
    let_it_see();
    connection.send_request("POST", "/test/echo", "[]");
    let_it_see();
  }
  while (!abandoned_) std::this_thread::sleep_for(5ms);
}

}  // namespace
}  // namespace skein::test
