// What a stop waits for, and what it does not.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "http_fixture.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

// Requests without a whole answer: those, and the one that asks.
void wait_until_under_way(TestServer& server, int others) {
  const std::string line = "\nskein_http_under_way " + std::to_string(others + 1) + "\n";
  while (server.ask("GET", "/metrics").body.find(line) == std::string::npos) {
    std::this_thread::sleep_for(1ms);
  }
}

TEST(HttpStopping, DoesNotWaitForBodiesThatDoNotCome) {
  TestServer server(with_test_routes());
  HttpConnection by_length(server.port());
  HttpConnection in_chunks(server.port());
  const std::string head =
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  by_length.send(head + "Content-Length: 9\r\n\r\n[1");
  in_chunks.send(head + "Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n");
  wait_until_under_way(server, 2);
  const auto began = std::chrono::steady_clock::now();
  server.server().stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s);
  for (HttpConnection* connection : {&by_length, &in_chunks}) {
    const Answered answered = connection->read_answer();
    EXPECT_EQ(answered.status, 503);
    EXPECT_EQ(answered.header("retry-after"), "1");
  }
}

}  // namespace
}  // namespace skein::test
