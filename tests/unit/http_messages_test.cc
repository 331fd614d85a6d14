// What a connection understands, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "http_fixture.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

class HttpMessages : public testing::Test {
 protected:
  TestServer server_{with_test_routes()};

  std::string host() const { return "Host: 127.0.0.1:" + std::to_string(server_.port()) + "\r\n"; }
  // The answer to these bytes alone.
  Answered answer_to(std::string_view bytes) {
    HttpConnection connection(server_.port());
    connection.send(bytes);
    return connection.read_answer();
  }
};

TEST_F(HttpMessages, ManyRequestsGoOverOneConnection) {
  HttpConnection connection(server_.port());
  for (int i = 0; i < 100; ++i) {
    const std::string body = "{\"n\":" + std::to_string(i) + "}";
    const Answered answered = connection.ask("POST", "/test/echo", body);
    ASSERT_EQ(answered.status, 200) << answered;
    ASSERT_EQ(answered.body, body);
    ASSERT_EQ(answered.header("connection"), "");
    ASSERT_NE(answered.header("x-request-id"), "");
  }
}

TEST_F(HttpMessages, PipelinedRequestsAreAnsweredInOrder) {
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    const std::string body = std::to_string(i);
    bytes += "POST /test/echo HTTP/1.1\r\n" + host() +
             "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
             "\r\n\r\n" + body;
  }
  HttpConnection connection(server_.port());
  connection.send(bytes);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(connection.read_answer().body, std::to_string(i));
}

TEST_F(HttpMessages, ABodyMayComeInChunksAndByteByByte) {
  const std::string bytes = "POST /test/echo HTTP/1.1\r\n" + host() +
                            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3;note=x\r\n[1,\r\n2\r\n2]\r\n0\r\nTrailer: y\r\n\r\n";
  EXPECT_EQ(answer_to(bytes).body, "[1,2]");
  HttpConnection connection(server_.port());
  for (const char byte : bytes) connection.send({&byte, 1});
  EXPECT_EQ(connection.read_answer().body, "[1,2]");
}

TEST_F(HttpMessages, AHeadIsAnsweredWithoutABody) {
  HttpConnection connection(server_.port());
  const Answered head = connection.ask("HEAD", "/test/large?bytes=1000");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "1000");
  EXPECT_EQ(connection.ask("GET", "/healthz").status, 200);
}

TEST_F(HttpMessages, AClientThatAsksFirstIsToldToGoOnOrNotTo) {
  HttpConnection connection(server_.port());
  connection.send("POST /test/echo HTTP/1.1\r\n" + host() +
                  "Content-Type: application/json\r\nContent-Length: 2\r\n"
                  "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(connection.read_head().status, 100);
  connection.send("[]");
  EXPECT_EQ(connection.read_answer().status, 200);

  HttpConnection refused(server_.port());
  refused.send("POST /test/nothing HTTP/1.1\r\n" + host() +
               "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(refused.read_head().status, 404);
}

TEST_F(HttpMessages, NobodyWhoSpeaksTheOldVersionIsToldToGoOn) {
  HttpConnection connection(server_.port());
  connection.send("POST /test/echo HTTP/1.0\r\n" + host() +
                  "Content-Type: application/json\r\nContent-Length: 2\r\n"
                  "Expect: 100-continue\r\n\r\n[]");
  EXPECT_EQ(connection.read_head().status, 200);
}

TEST_F(HttpMessages, AConnectionEndsWhenTheClientWantsThat) {
  HttpConnection connection(server_.port());
  const Answered answered = connection.ask("GET", "/healthz", {}, {{"Connection", "close"}});
  EXPECT_EQ(answered.header("connection"), "close");
  EXPECT_TRUE(connection.wait_for_close());
  const Answered old = answer_to("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(old.status, 200);
  EXPECT_EQ(old.header("connection"), "close");
}

// Each tells two places where the request may end, or something that others read otherwise.
TEST_F(HttpMessages, RequestsWhoseEndIsInDoubtAreRefused) {
  const std::string begin =
      "POST /test/echo HTTP/1.1\r\n" + host() + "Content-Type: application/json\r\n";
  for (const std::string& bytes : {
           begin + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]x",
           begin + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n[]",
           begin + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           begin + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
           begin + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           begin + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
           begin + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
           begin + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
           begin + "Content-Length: +2\r\n\r\n[]",
           begin + "Content-Length: 2,2\r\n\r\n[]",
           begin + "Content-Length: 0x2\r\n\r\n[]",
           begin + "Content-Length: 99999999999999999999\r\n\r\n[]",
           begin + "Content-Length: -1\r\n\r\n[]",
           begin + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
           begin + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
           begin + "Transfer-Encoding: chunked\r\n\r\n2\r\n[]extra\r\n0\r\n\r\n",
           "POST /test/echo HTTP/1.0\r\n" + host() + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       }) {
    HttpConnection connection(server_.port());
    connection.send(bytes);
    const Answered answered = connection.read_answer();
    EXPECT_EQ(answered.status, 400) << bytes << answered;
    EXPECT_TRUE(connection.wait_for_close()) << bytes;
  }
}

TEST_F(HttpMessages, WhatIsNotHttpIsRefused) {
  for (const std::string& bytes : {
           std::string("hello\r\n\r\n"), std::string("GET\r\n\r\n"),
           std::string("GET /healthz\r\n\r\n"), "GET /healthz HTTP/1.1 x\r\n" + host() + "\r\n",
           "GET /healthz HTTP/9.9\r\n" + host() + "\r\n",
           "G\x01T /healthz HTTP/1.1\r\n" + host() + "\r\n",
           "GET /healthz HTTP/1.1\r\n" + host() + "No colon\r\n\r\n",
           "GET /healthz HTTP/1.1\r\n" + host() + "Name: a\x01b\r\n\r\n",
           "GET /healthz HTTP/1.1\r\n" + host() + "\xff: b\r\n\r\n",
           std::string("GET /healthz HTTP/1.1\r\n\r\n"),  // no Host
           "GET /healthz HTTP/1.1\r\n" + host() + host() + "\r\n",
           "GET healthz HTTP/1.1\r\n" + host() + "\r\n",
           "GET /readyz?a=%zz HTTP/1.1\r\n" + host() + "\r\n",
           "GET /readyz?a=%00 HTTP/1.1\r\n" + host() + "\r\n",
           "GET /readyz?a=%ff HTTP/1.1\r\n" + host() + "\r\n",
           std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15),  // TLS
       }) {
    EXPECT_EQ(answer_to(bytes).status, 400) << bytes;
  }
  EXPECT_EQ(server_.ask("GET", "/healthz").status, 200);
}

TEST_F(HttpMessages, ATargetMayNameItsHostAndThenThatIsTheHost) {
  const std::string other = "Host: evil.example\r\n";
  const auto status = [&](const std::string& target, const std::string& headers) {
    return answer_to("GET " + target + " HTTP/1.1\r\n" + headers + "\r\n").status;
  };
  EXPECT_EQ(status("http://localhost:7171/healthz", host()), 200);
  EXPECT_EQ(status("HTTP://LOCALHOST/healthz", host()), 200);
  EXPECT_EQ(status("https://[::1]:80/healthz?a=http://b", host()), 200);
  EXPECT_EQ(status("http://localhost/test/large?bytes=1", host()), 200);
  EXPECT_EQ(status("http://localhost?a=b", host()), status("/?a=b", host()));
  EXPECT_EQ(status("http://localhost/healthz", other), 200);
  EXPECT_EQ(status("http://evil.example/healthz", host()), 421);
  EXPECT_EQ(status("http://localhost.evil.example/healthz", host()), 421);
  EXPECT_EQ(status("http://localhost/healthz", ""), 400);
  EXPECT_EQ(status("http://localhost/healthz", host() + host()), 400);
  for (const char* target :
       {"http://", "http:///healthz", "http://?a", "http://a@localhost/healthz",
        "ftp://localhost/healthz", "://localhost/healthz", "http:/healthz"}) {
    EXPECT_EQ(status(target, host()), 400) << target;
  }
  // A page is compared with the same host.
  EXPECT_EQ(status("http://localhost/healthz", other + "Origin: http://localhost\r\n"), 200);
  EXPECT_EQ(status("http://localhost/healthz", other + "Origin: http://evil.example\r\n"), 403);
}

TEST_F(HttpMessages, PathsAndMethodsThatAreNotThereAreToldApart) {
  EXPECT_EQ(server_.ask("GET", "/test/nothing").status, 404);
  EXPECT_EQ(server_.ask("GET", "/test/echo/").status, 404);
  EXPECT_EQ(server_.ask("GET", "//healthz").status, 404);
  EXPECT_EQ(server_.ask("GET", "/test/%2e%2e/healthz").status, 404);
  const Answered wrong = server_.ask("PUT", "/healthz", "{}");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("allow"), "GET, HEAD");
  EXPECT_EQ(wrong.header("content-type"), "application/problem+json");
  EXPECT_EQ(wrong.json().at("code").as_string(), "method_not_allowed");
  EXPECT_EQ(wrong.json().at("instance").as_string(), wrong.header("x-request-id"));
}

TEST_F(HttpMessages, BodiesMustBeWhatTheRouteWants) {
  HttpConnection connection(server_.port());
  const Answered plain =
      connection.ask("POST", "/test/echo", "[]", {{"Content-Type", "text/plain"}});
  EXPECT_EQ(plain.status, 415) << plain;
  const auto status_of_type = [&](const char* type) {
    return HttpConnection(server_.port())
        .ask("POST", "/test/echo", "[]", {{"Content-Type", type}})
        .status;
  };
  for (const char* json : {"Application/JSON", "application/json ; charset=utf-8", "a/b+json"}) {
    EXPECT_EQ(status_of_type(json), 200) << json;
  }
  EXPECT_EQ(status_of_type("application/json-seq"), 415);
  const Answered broken = server_.ask("POST", "/test/echo", "{\"a\":");
  EXPECT_EQ(broken.status, 400) << broken;
  EXPECT_EQ(server_.ask("POST", "/test/echo", "\"\xff\"").status, 400);
  EXPECT_EQ(server_.ask("POST", "/test/echo", R"("\ud800")").status, 400);
  EXPECT_EQ(server_.ask("POST", "/test/echo").status, 400);
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_EQ(server_.ask("POST", "/test/echo", deep).status, 400);
  EXPECT_EQ(server_.ask("GET", "/test/large?bytes=x").status, 400);
  EXPECT_EQ(server_.ask("GET", "/test/large?bytes=1&bytes=2").status, 400);
  EXPECT_THAT(server_.ask("GET", "/test/large?size=1").body, HasSubstr("size"));
}

TEST_F(HttpMessages, AnAnswerMayBeLarge) {
  const Answered answered = server_.ask("GET", "/test/large?bytes=20000000");
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(answered.body, std::string(20'000'000, 'x'));
}

TEST_F(HttpMessages, ARequestKeepsTheIdThatItCameWithIfThatIsPlain) {
  HttpConnection connection(server_.port());
  EXPECT_EQ(
      connection.ask("GET", "/healthz", {}, {{"X-Request-Id", "a.b-1"}}).header("x-request-id"),
      "a.b-1");
  EXPECT_NE(
      connection.ask("GET", "/healthz", {}, {{"X-Request-Id", "a b\""}}).header("x-request-id"),
      "a b\"");
}

}  // namespace
}  // namespace skein::test
