// What a stop waits for, and what it does not.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "http_fixture.h"
#include "skein/runner.h"
#include "support/expect.h"

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

// A server whose agent takes its time, and a client that waits for a run of it.
class HttpStoppingInARun : public testing::Test {
 protected:
  void begin(std::chrono::milliseconds delay, std::chrono::milliseconds drain) {
    TestServer::Setup setup;
    setup.options.drain = drain;
    setup.config =
        R"({"defaultAgent":"slow","agents":{"slow":{"engine":"echo","options":{"delayMs":)" +
        std::to_string(delay.count()) + "}}}}";
    server_ = std::make_unique<TestServer>(std::move(setup));
    client_ = std::make_unique<HttpConnection>(server_->port());
    client_->send_request("POST", "/v1/runs?wait=true", R"({"text":"one two three"})");
    while (run_status() != "running") std::this_thread::sleep_for(1ms);
  }
  // Of the only run, as the store has it; empty: there is none.
  std::string run_status() {
    const auto runs = server_->ask("GET", "/v1/runs").json().at("runs").as_array();
    return runs.empty() ? "" : std::string(runs[0].at("status").as_string());
  }
  std::string status_after_a_restart(const std::string& run) {
    const auto store = open_store("sqlite:" + (server_->folder() / ".skein/skein.db").string());
    EXPECT_TRUE(store.has_value());
    Runner runner(**store, server_->service().agents());
    return std::string(to_string(must(runner.get(run)).status));
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HttpConnection> client_;
};

TEST_F(HttpStoppingInARun, InterruptsItWhenItsTimeIsUpAndRecordsThat) {
  begin(60s, 50ms);
  const auto began = std::chrono::steady_clock::now();
  server_->server().stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 30s);
  const Answered answered = client_->read_answer();
  ASSERT_EQ(answered.status, 200) << answered;
  EXPECT_EQ(answered.json().at("status").as_string(), "interrupted");
  EXPECT_EQ(status_after_a_restart(std::string(answered.json().at("runId").as_string())),
            "interrupted");
}

TEST_F(HttpStoppingInARun, LetsItEndWithinItsTimeAndAnswersWhoWaitsForIt) {
  begin(200ms, 60s);
  server_->server().stop();
  const Answered answered = client_->read_answer();
  ASSERT_EQ(answered.status, 200) << answered;
  EXPECT_EQ(answered.json().at("status").as_string(), "success");
  EXPECT_EQ(status_after_a_restart(std::string(answered.json().at("runId").as_string())),
            "success");
}

}  // namespace
}  // namespace skein::test
