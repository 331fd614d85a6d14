// Clients that are too slow, too many or too large, and what others notice of them: nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "http/unsent_bytes.h"
#include "http_fixture.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

http::ServerOptions impatient() {
  http::ServerOptions options;
  options.header_timeout = 300ms;
  options.body_timeout = 300ms;
  options.idle_timeout = 300ms;
  options.write_timeout = 300ms;
  return options;
}

TEST(HttpLimits, AHeadThatDoesNotComeToItsEndIsRefusedInTime) {
  TestServer server(with_test_routes(impatient()));
  HttpConnection connection(server.port());
  connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  EXPECT_EQ(connection.read_answer().status, 408);
  EXPECT_TRUE(connection.wait_for_close());

  HttpConnection silent(server.port());
  EXPECT_TRUE(silent.wait_for_close());
}

TEST(HttpLimits, WhoeverDripsBytesGetsNoMoreTime) {
  TestServer server(with_test_routes(impatient()));
  HttpConnection connection(server.port());
  connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  // Ends because the server does not wait any longer, however many bytes come.
  while (connection.send("x")) std::this_thread::sleep_for(10ms);
}

TEST(HttpLimits, ABodyThatDoesNotComeIsRefusedInTime) {
  TestServer server(with_test_routes(impatient()));
  HttpConnection connection(server.port());
  connection.send(
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 1000\r\n\r\n[1,");
  EXPECT_EQ(connection.read_answer().status, 408);
}

TEST(HttpLimits, WhoeverIsToldToGoOnGetsNoMoreTimeForTheBody) {
  http::ServerOptions options;
  options.body_timeout = 300ms;
  options.write_timeout = 1h;
  TestServer server(with_test_routes(options));
  HttpConnection connection(server.port());
  connection.send(
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(connection.read_head().status, 100);
  EXPECT_EQ(connection.read_answer().status, 408);
}

TEST(HttpLimits, AConnectionThatNobodyUsesIsClosed) {
  TestServer server(with_test_routes(impatient()));
  HttpConnection connection(server.port());
  EXPECT_EQ(connection.ask("GET", "/healthz").status, 200);
  EXPECT_TRUE(connection.wait_for_close());
}

// As the server tells it, which is every now and then.
std::uint64_t figure(TestServer& server, const std::string& name) {
  const std::string figures = server.ask("GET", "/metrics").body;
  const std::size_t at = figures.find("\n" + name + " ");
  if (at == std::string::npos) throw std::runtime_error("there is no " + name);
  return std::stoull(figures.substr(at + name.size() + 2));
}

void wait_for_drop(TestServer& server) {
  while (figure(server, "skein_http_dropped_total") == 0) std::this_thread::sleep_for(20ms);
}

// A client that asks for so much, and reads nothing.
std::unique_ptr<HttpConnection> stuck_client(TestServer& server, std::size_t bytes) {
  auto client = std::make_unique<HttpConnection>(server.port());
  const int small = 4096;
  ::setsockopt(client->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  client->send_request("GET", "/test/large?bytes=" + std::to_string(bytes));
  return client;
}

TEST(HttpLimits, AClientThatDoesNotReadIsDroppedAndOthersAreAnswered) {
  TestServer server(with_test_routes(impatient()));
  const auto stuck = stuck_client(server, 50'000'000);
  // Somebody else counts who was dropped.
  wait_for_drop(server);
}

TEST(HttpLimits, WhoeverReadsGetsTheRoomOfThoseWhoDoNot) {
  http::ServerOptions options;
  options.max_buffered_bytes = 40'000'000;
  TestServer server(with_test_routes(options));
  const auto stuck = stuck_client(server, 30'000'000);
  while (figure(server, "skein_http_unsent_bytes") < 20'000'000) std::this_thread::sleep_for(20ms);
  // Long before it had its time: there is room for one of 30 MB alone.
  for (int got = 0; got < 3;) {
    const Answered answered = server.ask("GET", "/test/large?bytes=30000000");
    ASSERT_TRUE(answered.status == 200 || answered.status == 503) << answered.status;
    if (answered.status == 503) {
      EXPECT_EQ(answered.header("retry-after"), "1");
      EXPECT_NE(answered.body.find("overloaded"), std::string::npos);
    }
    got += answered.status == 200 ? 1 : 0;
    ASSERT_EQ(server.ask("GET", "/test/large?bytes=10000").status, 200);
  }
  wait_for_drop(server);
}

TEST(HttpLimits, BytesThatManyReadersShareCountOnce) {
  http::UnsentBytes unsent;
  const auto large = http::share(std::string(100'000, 'x'));
  const auto small = http::share("small");
  for (int i = 0; i < 3; ++i) unsent.add(large);
  for (int i = 0; i < 2; ++i) unsent.add(small);
  EXPECT_EQ(unsent.total(), 100'010U);
  for (int i = 0; i < 2; ++i) unsent.remove(large);
  EXPECT_EQ(unsent.total(), 100'010U);
  unsent.remove(large);
  EXPECT_EQ(unsent.total(), 10U);
}

TEST(HttpLimits, HeadsAndBodiesHaveALimit) {
  http::ServerOptions options;
  options.max_body_bytes = 10'000;
  options.max_header_bytes = 4'000;
  TestServer server(with_test_routes(options));
  HttpConnection connection(server.port());
  EXPECT_EQ(connection.ask("GET", "/healthz", {}, {{"X-Long", std::string(5000, 'x')}}).status,
            431);
  EXPECT_EQ(server.ask("GET", "/" + std::string(5000, 'x')).status, 431);
  const std::string fits = "\"" + std::string(9'998, 'x') + "\"";
  EXPECT_EQ(server.ask("POST", "/test/echo", fits).status, 200);
  const Answered large = server.ask("POST", "/test/echo", fits + " ");
  EXPECT_EQ(large.status, 413) << large;
  EXPECT_NE(large.body.find("10000"), std::string::npos);

  HttpConnection chunked(server.port());
  chunked.send(
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n5000\r\n" +
      std::string(0x5000, ' ') + "\r\n");
  EXPECT_EQ(chunked.read_answer().status, 413);
}

TEST(HttpLimits, TheSizeOfAChunkMustEnd) {
  TestServer server(with_test_routes());
  HttpConnection connection(server.port());
  connection.send(
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n1;");
  const std::string more(1 << 10, 'x');
  pollfd fd{connection.fd(), POLLIN, 0};
  while (::poll(&fd, 1, 0) == 0 && connection.send(more)) {
  }
  EXPECT_GE(connection.read_answer().status, 400);
}

TEST(HttpLimits, ABodyThatIsTooLargeIsRefusedByItsHeadAlone) {
  TestServer server(with_test_routes());
  HttpConnection connection(server.port());
  connection.send(
      "POST /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 1073741824\r\n\r\n");
  EXPECT_EQ(connection.read_answer().status, 413);
}

TestServer::Setup room_for_ten() {
  http::ServerOptions options;
  options.max_connections = 10;
  return with_test_routes(options);
}

std::vector<std::unique_ptr<HttpConnection>> ten_idle(TestServer& server) {
  std::vector<std::unique_ptr<HttpConnection>> idle;
  for (int i = 0; i < 10; ++i) {
    idle.push_back(std::make_unique<HttpConnection>(server.port()));
    EXPECT_EQ(idle.back()->ask("GET", "/healthz").status, 200);
  }
  return idle;
}

TEST(HttpLimits, WhenThereAreTooManyConnectionsTheIdleOnesGo) {
  TestServer server(room_for_ten());
  const auto idle = ten_idle(server);
  EXPECT_EQ(server.ask("GET", "/healthz").status, 200);
  EXPECT_TRUE(idle.front()->wait_for_close());
}

TEST(HttpLimits, WhoeverComesWhenThereAreTooManyConnectionsDoesNotPushOutTheOneBefore) {
  TestServer server(room_for_ten());
  const auto idle = ten_idle(server);
  std::vector<std::unique_ptr<HttpConnection>> fresh;
  for (int i = 0; i < 5; ++i) fresh.push_back(std::make_unique<HttpConnection>(server.port()));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(idle[static_cast<std::size_t>(i)]->wait_for_close());
  for (const auto& one : fresh) EXPECT_EQ(one->ask("GET", "/healthz").status, 200);
}

TEST(HttpLimits, StreamsHaveALimitPerServerAndPerKey) {
  http::ServerOptions options;
  options.max_streams = 3;
  options.max_streams_per_key = 2;
  TestServer server(with_test_routes(options));
  const std::string thread = new_thread(server);
  const std::string path = "/test/threads/" + thread + "/events";
  const std::string one = server.make_key(http::Access::kRead);
  const std::string two = server.make_key(http::Access::kRead);
  std::vector<std::unique_ptr<HttpConnection>> open;
  const auto status = [&](const std::string& key) {
    open.push_back(std::make_unique<HttpConnection>(server.port()));
    open.back()->send_request("GET", path, {}, {{"X-Api-Key", key}});
    return open.back()->read_head().status;
  };
  EXPECT_EQ(status(one), 200);
  EXPECT_EQ(status(one), 200);
  EXPECT_EQ(status(one), 503);
  EXPECT_EQ(status(two), 200);
  EXPECT_EQ(status(two), 503);
  open.clear();
  for (int last = 0; last != 200;) last = status(two);  // once the server has seen them go
}

TEST(HttpLimits, AKeyMayAskOnlySoOften) {
  http::ServerOptions options;
  options.max_requests_per_second = 1;
  TestServer server(with_test_routes(options));
  HttpConnection connection(server.port());
  Answered answered = connection.ask("GET", "/test/large");
  EXPECT_EQ(answered.status, 200);
  // As soon as two of them come within a second.
  while (answered.status == 200) answered = connection.ask("GET", "/test/large");
  EXPECT_EQ(answered.status, 429);
  EXPECT_EQ(answered.header("retry-after"), "1");
}

TEST(HttpLimits, AKeyThatAsksTooOftenTakesNothingFromAnother) {
  http::ServerOptions options;
  options.max_requests_per_second = 1;
  TestServer server(with_test_routes(options));
  const std::string greedy = server.make_key(http::Access::kRead);
  const std::string modest = server.make_key(http::Access::kRead);
  while (server.ask("GET", "/test/large", {}, greedy).status == 200) {
  }
  EXPECT_EQ(server.ask("GET", "/test/large", {}, modest).status, 200);
}

TEST(HttpLimits, WhoeverLooksAfterTheServerMayAskAlways) {
  http::ServerOptions options;
  options.max_requests_per_second = 1;
  TestServer server(with_test_routes(options));
  HttpConnection connection(server.port());
  for (int i = 0; i < 50; ++i) {
    connection.ask("GET", "/docs");
    EXPECT_EQ(connection.ask("GET", "/healthz").status, 200);
    EXPECT_EQ(connection.ask("GET", "/readyz").status, 200);
  }
}

TEST(HttpLimits, WhatTheRouteTakesFromThePoolIsBounded) {
  http::ServerOptions options;
  options.threads = 1;
  options.max_queued_requests = 1;
  std::atomic<bool> go{false};
  std::atomic<int> inside{0};
  TestServer::Setup setup = with_test_routes(options);
  setup.more_routes[0].routes.push_back(route("GET", "/test/wait", "wait", http::Access::kRead,
                                              [&](Service&, http::Request&) -> http::Reply {
                                                ++inside;
                                                go.wait(false);
                                                return http::no_content();
                                              }));
  TestServer server(std::move(setup));
  HttpConnection works(server.port());
  works.send_request("GET", "/test/wait");
  while (inside == 0) std::this_thread::sleep_for(1ms);
  // Of the next five one waits for the pool, and the others are refused without it.
  std::vector<std::unique_ptr<HttpConnection>> more;
  for (int i = 0; i < 5; ++i) {
    more.push_back(std::make_unique<HttpConnection>(server.port()));
    more.back()->send_request("GET", "/test/wait");
  }
  const auto is_answered = [](const std::unique_ptr<HttpConnection>& connection) {
    pollfd fd{connection->fd(), POLLIN, 0};
    return ::poll(&fd, 1, 0) == 1;
  };
  while (std::count_if(more.begin(), more.end(), is_answered) < 4) {
    std::this_thread::sleep_for(1ms);
  }
  const auto waits = std::partition(more.begin(), more.end(), is_answered);
  ASSERT_EQ(more.end() - waits, 1);
  for (auto refused = more.begin(); refused != waits; ++refused) {
    EXPECT_EQ((*refused)->read_answer().status, 503);
  }
  EXPECT_EQ(server.ask("GET", "/healthz").status, 200);
  go = true;
  go.notify_all();
  EXPECT_EQ(works.read_answer().status, 204);
  EXPECT_EQ((*waits)->read_answer().status, 204);
}

TEST(HttpLimits, WhatLastsIsRefusedWhenTheSystemHasNoThreadForIt) {
  http::ServerOptions options;
  options.max_streams = 1;
  TestServer::Setup setup = with_test_routes(options);
  auto lasts = route("GET", "/test/lasts", "lasts", http::Access::kRead,
                     [](Service&, http::Request&) -> http::Reply { return http::no_content(); });
  lasts.runs_on = http::RunsOn::kOwnThread;
  setup.more_routes[0].routes.push_back(std::move(lasts));
  std::atomic<bool> none{true};
  setup.make_thread = [&](WorkerThreads::Work work) {
    if (none) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(work));
  };
  TestServer server(std::move(setup));
  // As often as that happens.
  for (int i = 0; i < 3; ++i) {
    const Answered refused = server.ask("GET", "/test/lasts");
    EXPECT_EQ(refused.status, 503) << refused;
    EXPECT_EQ(refused.json().at("code").as_string(), "overloaded");
    EXPECT_EQ(refused.header("retry-after"), "1");
  }
  none = false;
  EXPECT_EQ(server.ask("GET", "/test/lasts").status, 204);
}

TEST(HttpLimits, WhateverIsThrownByAnAnswerThatComesLaterIsTheEndOfThatRequestAlone) {
  TestServer::Setup setup = with_test_routes();
  setup.more_routes[0].routes.push_back(route("GET", "/test/throws", "throws", http::Access::kRead,
                                              [](Service&, http::Request&) -> http::Reply {
                                                return http::answer_later([](const http::Answer&) {
                                                  throw std::system_error(EAGAIN,
                                                                          std::generic_category());
                                                });
                                              }));
  TestServer server(std::move(setup));
  EXPECT_EQ(server.ask("GET", "/test/throws").status, 500);
  EXPECT_EQ(server.ask("GET", "/healthz").status, 200);
}

class Counted final : public http::Stream {
 public:
  explicit Counted(std::atomic<int>& abandoned) : abandoned_(abandoned) {}
  std::vector<Topic> topics() const override { return {}; }
  Result<Pulled> pull(std::size_t /*max_bytes*/) override { return Pulled{}; }
  void abandoned() override { ++abandoned_; }

 private:
  std::atomic<int>& abandoned_;
};

// A server that has room for one stream, which is taken.
class HttpWithoutRoom : public testing::Test {
 protected:
  HttpWithoutRoom() {
    open_.send_request("GET", "/test/threads/" + thread_ + "/events");
    EXPECT_EQ(open_.read_head().status, 200);
  }

  TestServer::Setup setup() {
    http::ServerOptions options;
    options.max_streams = 1;
    TestServer::Setup made = with_test_routes(options);
    made.config = R"({"agents":{"echo":{"engine":"echo"}}})";
    const auto stream = [this](Service&, http::Request&) -> http::Reply {
      ++begun_;
      return http::stream_response(std::make_unique<Counted>(abandoned_));
    };
    const auto wait = [this](Service&, http::Request&) -> http::Reply {
      ++begun_;
      http::Waiting waiting;
      waiting.poll = []() -> tl::expected<std::optional<http::Response>, http::Problem> {
        return std::optional<http::Response>();
      };
      waiting.abandoned = [this] { ++abandoned_; };
      return http::wait_for(std::move(waiting));
    };
    auto& routes = made.more_routes[0].routes;
    routes.push_back(route("GET", "/test/stream", "stream", http::Access::kRead, stream));
    routes.push_back(route("GET", "/test/waits", "waits", http::Access::kRead, wait));
    routes.push_back(route("GET", "/test/known", "known", http::Access::kRead, stream));
    routes.back().goes_on = [](const http::Request&) { return true; };
    return made;
  }
  static void expect_refused(const Answered& answered) {
    EXPECT_EQ(answered.status, 503) << answered;
    EXPECT_NE(answered.header("retry-after"), "");
  }

  std::atomic<int> begun_{0};
  std::atomic<int> abandoned_{0};
  TestServer server_{setup()};
  HttpConnection open_{server_.port()};
  const std::string thread_ = new_thread(server_, "echo");
};

TEST_F(HttpWithoutRoom, NoRunIsBegunThatNobodyCanBeToldOf) {
  const std::string langgraph =
      R"({"assistant_id":"echo","input":{"messages":[{"role":"user","content":"hello"}]}})";
  expect_refused(server_.ask("POST", "/v1/runs?wait=true",
                             R"({"agentId":"echo","threadId":")" + thread_ + R"(","text":"x"})"));
  expect_refused(server_.ask("POST", "/threads/" + thread_ + "/runs/stream", langgraph));
  expect_refused(server_.ask("POST", "/runs/stream", langgraph));
  expect_refused(server_.ask("POST", "/runs/wait", langgraph));
  const auto runs = server_.service().runner().list({});
  ASSERT_TRUE(runs.has_value());
  EXPECT_TRUE(runs->empty());
}

TEST_F(HttpWithoutRoom, WhatWasBegunAllTheSameIsAbandoned) {
  expect_refused(server_.ask("GET", "/test/stream"));
  expect_refused(server_.ask("GET", "/test/waits"));
  while (abandoned_ < 2) std::this_thread::sleep_for(1ms);
  expect_refused(server_.ask("GET", "/test/known"));
  EXPECT_EQ(begun_, 2) << "it is known before that this goes on";
}

TEST(HttpLimits, ABodyCountsAlsoWhenItsClientWentAway) {
  http::ServerOptions options;
  options.max_buffered_bytes = 3'000'000;
  std::atomic<bool> go{false};
  TestServer::Setup setup = with_test_routes(options);
  auto hold = route("POST", "/test/hold", "hold", http::Access::kWrite,
                    [&](Service&, http::Request&) -> http::Reply {
                      go.wait(false);
                      return http::no_content();
                    });
  hold.body = http::BodySpec{.schema = ""};
  setup.more_routes[0].routes.push_back(std::move(hold));
  TestServer server(std::move(setup));
  const std::string body = "\"" + std::string(2'000'000, 'x') + "\"";
  HttpConnection(server.port()).send_request("POST", "/test/hold", body);
  // Nobody is left but who asks.
  while (figure(server, "skein_http_connections") > 1) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(server.ask("POST", "/test/echo", body).status, 503);
  go = true;
  go.notify_all();
  while (figure(server, "skein_http_body_bytes") > 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(server.ask("POST", "/test/echo", body).status, 200);
}

}  // namespace
}  // namespace skein::test
