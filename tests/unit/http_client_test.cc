#include "core/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/expect.h"
#include "support/loopback_server.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using Connection = LoopbackServer::Connection;

HttpRequest post(const LoopbackServer& server, std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.url = server.url() + "/path?key=hidden";
  request.headers = {{"X-One", "1"}, {"X-Empty", ""}};
  request.body = std::move(body);
  return request;
}

TEST(HttpClient, SendsMethodHeadersAndBodyAndGivesTheAnswer) {
  std::string seen;
  HttpResponse response;
  {
    const LoopbackServer server([&](Connection& peer) {
      seen = peer.read_request();
      peer.answer(201, "text/plain", "made", "X-Two:  two \r\n");
    });
    HttpClient client;
    response = must(client.send(post(server, "hello")));
  }
  EXPECT_EQ(response.status, 201);
  EXPECT_TRUE(response.ok());
  EXPECT_EQ(response.body, "made");
  ASSERT_NE(response.header("x-two"), nullptr);
  EXPECT_EQ(*response.header("x-two"), "two");
  EXPECT_EQ(response.header("x-three"), nullptr);
  EXPECT_THAT(seen, testing::StartsWith("POST /path?key=hidden HTTP/1.1\r\n"));
  EXPECT_THAT(seen, HasSubstr("X-One: 1\r\n"));
  EXPECT_THAT(seen, HasSubstr("X-Empty:\r\n"));
  EXPECT_THAT(seen, Not(HasSubstr("Expect")));
  EXPECT_THAT(seen, testing::EndsWith("\r\n\r\nhello"));
}

TEST(HttpClient, UsesAConnectionAgain) {
  const LoopbackServer server([](Connection& peer) {
    while (!peer.read_request().empty()) peer.answer(200, "text/plain", "ok");
  });
  HttpClient client;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(must(client.send(post(server, "x"))).body, "ok");
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, GivesPiecesAsTheyCome) {
  std::stop_source first_piece_seen;
  const LoopbackServer server([&](Connection& peer) {
    peer.read_request();
    peer.begin(200, "text/plain");
    peer.send("one");
    while (!first_piece_seen.stop_requested()) std::this_thread::yield();
    peer.send("two");
  });
  std::string pieces;
  HttpRequest request = post(server, "x");
  request.on_piece = [&](const HttpResponse& head, std::string_view piece) {
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(*head.header("content-type"), "text/plain");
    pieces += piece;
    first_piece_seen.request_stop();
    return true;
  };
  HttpClient client;
  EXPECT_EQ(must(client.send(request)).body, "");
  EXPECT_EQ(pieces, "onetwo");
}

TEST(HttpClient, KeepsTheBodyOfAnErrorEvenIfPiecesWereAskedFor) {
  const LoopbackServer server([](Connection& peer) {
    peer.read_request();
    peer.answer(429, "text/plain", "too many requests");
  });
  HttpRequest request = post(server, "x");
  request.on_piece = [](const HttpResponse&, std::string_view) -> bool {
    ADD_FAILURE() << "a piece of an error";
    return true;
  };
  request.max_body_bytes = 8;
  HttpClient client;
  const HttpResponse response = must(client.send(request));
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.body, "too many");
}

TEST(HttpClient, EndsWhenTheReaderHasEnough) {
  const LoopbackServer server([](Connection& peer) {
    peer.read_request();
    peer.begin(200, "text/plain");
    while (peer.send("more and more\n")) {
    }
  });
  HttpRequest request = post(server, "x");
  request.on_piece = [](const HttpResponse&, std::string_view) { return false; };
  HttpClient client;
  EXPECT_EQ(must(client.send(request)).status, 200);
}

TEST(HttpClient, StopsInTheMiddleOfWaiting) {
  std::stop_source source;
  const LoopbackServer server([&](Connection& peer) {
    peer.read_request();
    source.request_stop();
    peer.wait_for_close();
  });
  HttpClient client;
  EXPECT_TRUE(
      fails(client.send(post(server, "x"), source.get_token()), ErrorCode::kIo, {"stopped"}));
  // At once, if it was stopped before.
  EXPECT_TRUE(fails(client.send(post(server, "x"), source.get_token()), ErrorCode::kIo));
}

TEST(HttpClient, NamesTheTimeoutThatRanOut) {
  const LoopbackServer silent([](Connection& peer) {
    peer.read_request();
    peer.wait_for_close();
  });
  const LoopbackServer endless([](Connection& peer) {
    peer.read_request();
    peer.begin(200, "text/plain");
    while (peer.send("x")) std::this_thread::sleep_for(1ms);
  });
  HttpClient client;
  HttpRequest idle = post(silent, "x");
  idle.idle_timeout = 50ms;
  EXPECT_TRUE(fails(client.send(idle), ErrorCode::kBusy, {"/path", "nothing for 50 ms"}));
  HttpRequest total = post(endless, "x");
  total.total_timeout = 100ms;
  EXPECT_TRUE(fails(client.send(total), ErrorCode::kBusy, {"within 100 ms"}));
}

TEST(HttpClient, TellsAnAnswerThatWasCutOffOrIsTooLarge) {
  const LoopbackServer cut([](Connection& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
  });
  const LoopbackServer large([](Connection& peer) {
    peer.read_request();
    peer.answer(200, "text/plain", std::string(1000, 'x'));
  });
  HttpClient client;
  EXPECT_TRUE(fails(client.send(post(cut, "x")), ErrorCode::kIo, {cut.url()}));
  HttpRequest limited = post(large, "x");
  limited.max_body_bytes = 999;
  EXPECT_TRUE(fails(client.send(limited), ErrorCode::kIo, {"999"}));
  limited.max_body_bytes = 1000;
  EXPECT_EQ(must(client.send(limited)).body.size(), 1000U);
}

TEST(HttpClient, DoesNotFollowRedirections) {
  const LoopbackServer server([](Connection& peer) {
    peer.read_request();
    peer.answer(302, "text/plain", "", "Location: http://127.0.0.1:1/\r\n");
  });
  HttpClient client;
  EXPECT_EQ(must(client.send(post(server, "x"))).status, 302);
}

TEST(HttpClient, RefusesWhatCannotBeSentAndHidesSecretsInItsMessages) {
  HttpClient client;
  HttpRequest request;
  request.url = "file:///etc/passwd";
  EXPECT_TRUE(fails(client.send(request), ErrorCode::kInvalid, {"http://"}));
  for (const std::string& end : {std::string(" HTTP/1.1\r\nX: y"), std::string("\0@other", 7),
                                 std::string("\x7f"), std::string("\t")}) {
    request.url = "http://127.0.0.1:1/path" + end;
    EXPECT_TRUE(fails(client.send(request), ErrorCode::kInvalid, {"control character"}));
  }
  request.url = "http://user:secret@127.0.0.1:1/path?key=hidden";
  request.connect_timeout = 1s;
  const auto refused = client.send(request);
  ASSERT_TRUE(fails(refused, ErrorCode::kIo, {"http://127.0.0.1:1/path"}));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("hidden")));
  request.url = "http://127.0.0.1:1/";
  request.headers = {{"X-Bad", "a\r\nX-Injected: b"}};
  const auto injected = client.send(request);
  ASSERT_TRUE(fails(injected, ErrorCode::kInvalid, {"X-Bad"}));
  EXPECT_THAT(injected.error().message, Not(HasSubstr("Injected")));
  request.headers = {{"X Bad", "a"}};
  EXPECT_TRUE(fails(client.send(request), ErrorCode::kInvalid, {"X Bad"}));
  request.headers = {};
  request.method = "GET /";
  EXPECT_TRUE(fails(client.send(request), ErrorCode::kInvalid, {"GET /"}));
}

TEST(HttpClient, ReachesLoopbackWithoutTheProxyOfTheEnvironment) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::unsetenv("no_proxy");
  const LoopbackServer server([](Connection& peer) {
    peer.read_request();
    peer.answer(200, "text/plain", "direct");
  });
  HttpClient client;
  EXPECT_EQ(must(client.send(post(server, "x"))).body, "direct");
}

TEST(HttpClient, ServesManyThreadsAtOnce) {
  const LoopbackServer server([](Connection& peer) {
    while (!peer.read_request().empty()) peer.answer(200, "text/plain", "ok");
  });
  HttpClient client;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) EXPECT_EQ(must(client.send(post(server, "x"))).body, "ok");
    });
  }
}

}  // namespace
}  // namespace skein::test
