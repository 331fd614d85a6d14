// Answers that go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "api/keys.h"
#include "http_fixture.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

class HttpStreams : public testing::Test {
 protected:
  explicit HttpStreams(http::ServerOptions options = patient())
      : server_(with_test_routes(std::move(options))) {}

  static http::ServerOptions patient() {
    http::ServerOptions options;
    options.write_timeout = 10min;
    return options;
  }

  void append(const std::string& text) {
    const auto added =
        server_.service().threads().add_message(thread_, {.role = Role::kUser, .text = text});
    ASSERT_TRUE(added.has_value()) << added.error().message;
  }
  std::unique_ptr<HttpConnection> open(std::uint64_t after = 0) {
    auto connection = std::make_unique<HttpConnection>(server_.port());
    connection->send_request("GET", "/test/threads/" + thread_ + "/events", {},
                             {{"Last-Event-ID", std::to_string(after)}});
    EXPECT_EQ(connection->read_head().status, 200);
    return connection;
  }

  TestServer server_;
  std::string thread_ = new_thread(server_);
};

TEST_F(HttpStreams, TellWhatThereIsAndThenWhatComes) {
  append("one");
  append("two");
  const auto reader = open();
  for (int i = 1; i <= 20; ++i) {
    if (i > 2) append("number " + std::to_string(i));
    const auto event = reader->next_event();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->id, std::to_string(i));
    EXPECT_EQ(event->type, "message");
  }
}

TEST_F(HttpStreams, GoOnAfterTheEventThatTheReaderNames) {
  for (int i = 0; i < 10; ++i) append(std::to_string(i));
  EXPECT_EQ(open(7)->next_event()->id, "8");
  append("last");
  EXPECT_EQ(open(10)->next_event()->id, "11");
}

TEST_F(HttpStreams, EveryReaderSeesEverythingInOrder) {
  constexpr int kReaders = 50;
  constexpr int kEvents = 100;
  std::vector<std::unique_ptr<HttpConnection>> readers;
  for (int i = 0; i < kReaders; ++i) readers.push_back(open());
  std::thread writer([&] {
    for (int i = 0; i < kEvents; ++i) append(std::string(1000, 'x'));
  });
  for (const auto& reader : readers) {
    for (int i = 1; i <= kEvents; ++i) {
      const auto event = reader->next_event();
      ASSERT_TRUE(event.has_value());
      ASSERT_EQ(event->id, std::to_string(i));
    }
  }
  writer.join();
}

TEST_F(HttpStreams, ASlowReaderLosesNothingAndDelaysNobody) {
  const auto slow = open();
  const int small = 1 << 18;
  ::setsockopt(slow->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  const auto quick = open();
  constexpr int kEvents = 60;
  const std::string large(200'000, 'x');
  for (int i = 1; i <= kEvents; ++i) {
    append(large);
    const auto event = quick->next_event();
    ASSERT_TRUE(event.has_value());
    ASSERT_EQ(event->id, std::to_string(i));
  }
  for (int i = 1; i <= kEvents; ++i) {
    const auto event = slow->next_event();
    ASSERT_TRUE(event.has_value()) << i;
    ASSERT_EQ(event->id, std::to_string(i));
  }
}

TEST_F(HttpStreams, EndWhenTheirThreadIsRemoved) {
  append("one");
  const auto reader = open();
  EXPECT_EQ(reader->next_event()->id, "1");
  ASSERT_TRUE(server_.service().threads().remove(thread_).has_value());
  EXPECT_FALSE(reader->next_event().has_value());
  // The answer is complete, and the connection can be used again.
  EXPECT_EQ(reader->ask("GET", "/healthz").status, 200);
}

// Its id is the same, what is in it is not: it was exported, and came back without a secret.
TEST_F(HttpStreams, OfAThreadThatWasPutBackTellWhatIsInItNow) {
  Store& store = server_.service().store();
  NewThread again;
  again.agent_id = "helper";
  again.id = *ThreadId::parse(thread_);
  again.fields.set("createdAt", Json::string(store.get(*again.id)->value().created_at.str()));
  Event event;
  event.payload = Message{Role::kUser, "nothing"};
  again.events.push_back(event);
  append("secret");
  for (const bool read_to_the_end : {false, true}) {
    auto reader = open();
    EXPECT_TRUE(reader->next_event().has_value());
    if (!read_to_the_end) reader.reset();
    ASSERT_TRUE(server_.service().threads().remove(thread_).has_value());
    if (read_to_the_end) EXPECT_FALSE(reader->next_event().has_value());
    ASSERT_TRUE(store.create(again).has_value());
    EXPECT_THAT(open()->next_event().value().data, testing::HasSubstr("nothing"));
  }
}

TEST_F(HttpStreams, OfThreadsThatAreNotThereAreNotBegun) {
  EXPECT_EQ(server_.ask("GET", "/test/threads/000000000000/events").status, 404);
  EXPECT_EQ(server_.ask("GET", "/test/threads/..%2f..%2fx/events").status, 400);
}

TEST_F(HttpStreams, AreToldWhenTheServerStops) {
  append("one");
  const auto reader = open();
  EXPECT_EQ(reader->next_event()->id, "1");
  std::thread stopping([&] { server_.server().stop(); });
  EXPECT_FALSE(reader->next_event().has_value());
  stopping.join();
}

class HttpHeartbeats : public HttpStreams {
 protected:
  static http::ServerOptions options() {
    http::ServerOptions quick;
    quick.heartbeat = 100ms;
    return quick;
  }
  HttpHeartbeats() : HttpStreams(options()) {}
};

TEST_F(HttpHeartbeats, KeepSilentStreamsAliveWithoutBeingEvents) {
  const auto reader = open();
  char bytes[64];
  ASSERT_GT(::recv(reader->fd(), bytes, sizeof bytes, 0), 0);
  EXPECT_THAT(std::string(bytes, 5), testing::StartsWith("4\r\n: "));
  append("one");
}

// A run of the echo agent, waited for without a thread of the pool.
TEST_F(HttpStreams, AnAnswerIsWaitedForWithoutAThread) {
  http::ServerOptions options;
  options.threads = 1;
  TestServer::Setup setup = with_test_routes(options);
  setup.config = R"({"agents":{"echo":{"engine":"echo"}}})";
  setup.more_routes[0].routes.push_back(route(
      "POST", "/test/runs", "runs", http::Access::kWrite,
      [](Service& service, http::Request&) -> http::Reply {
        SKEIN_ASSIGN(const auto run, service.runner().start(run_request("echo", "", "hello")));
        http::Waiting waiting;
        waiting.topics = {Topic::of(run.thread)};
        waiting.poll =
            [&service,
             id = run.id]() -> tl::expected<std::optional<http::Response>, http::Problem> {
          SKEIN_ASSIGN(const auto now, service.runner().get(id));
          if (!now.ended()) return std::optional<http::Response>();
          return std::optional<http::Response>(http::json_response(to_json(now)));
        };
        return http::wait_for(std::move(waiting));
      }));
  TestServer server(std::move(setup));
  std::vector<std::unique_ptr<HttpConnection>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<HttpConnection>(server.port()));
    clients.back()->send_request("POST", "/test/runs");
  }
  for (const auto& client : clients) {
    const Answered answered = client->read_answer();
    EXPECT_EQ(answered.status, 200) << answered;
    EXPECT_EQ(answered.json().at("status").as_string(), "success");
  }
}

TEST_F(HttpStreams, WhatIsWaitedForMayBeLate) {
  TestServer::Setup setup = with_test_routes();
  std::atomic<bool> abandoned{false};
  const auto waits = [](http::Waiting waiting) {
    waiting.topics = {Topic::all()};
    waiting.poll = []() -> tl::expected<std::optional<http::Response>, http::Problem> {
      return std::optional<http::Response>();
    };
    return http::wait_for(std::move(waiting));
  };
  setup.more_routes[0].routes.push_back(route(
      "GET", "/test/late", "late", http::Access::kRead,
      [&](Service&, http::Request&) -> http::Reply {
        http::Waiting waiting;
        waiting.timeout = 50ms;
        waiting.late = []() -> http::Reply { return http::json_response(202, std::string("{}")); };
        return waits(std::move(waiting));
      }));
  setup.more_routes[0].routes.push_back(route("GET", "/test/never", "never", http::Access::kRead,
                                              [&](Service&, http::Request&) -> http::Reply {
                                                http::Waiting waiting;
                                                waiting.abandoned = [&] { abandoned = true; };
                                                return waits(std::move(waiting));
                                              }));
  TestServer server(std::move(setup));
  EXPECT_EQ(server.ask("GET", "/test/late").status, 202);
  {
    HttpConnection(server.port()).send_request("GET", "/test/never");
  }
  while (!abandoned) std::this_thread::sleep_for(1ms);
  HttpConnection waiting(server.port());
  waiting.send_request("GET", "/test/never");
  std::thread stopping([&] { server.server().stop(); });
  const int status = waiting.read_answer().status;
  EXPECT_TRUE(status == 503 || status == 0) << status;  // 0: it had not been read yet
  stopping.join();
}

class HttpStreamsWithKeys : public HttpStreams {
 protected:
  std::unique_ptr<HttpConnection> open_with(const std::string& key) {
    auto reader = std::make_unique<HttpConnection>(server_.port());
    reader->send_request("GET", "/test/threads/" + thread_ + "/events", {}, {{"X-Api-Key", key}});
    EXPECT_EQ(reader->read_head().status, 200);
    EXPECT_EQ(reader->next_event()->id, "1");
    return reader;
  }
};

TEST_F(HttpStreamsWithKeys, EndWithTheKeyThatTheyBeganWith) {
  append("one");
  const auto nobody = open();
  EXPECT_EQ(nobody->next_event()->id, "1");
  const std::string leaked = server_.make_key(http::Access::kRead);
  // From now on nobody is let in without one.
  EXPECT_FALSE(nobody->next_event().has_value());
  EXPECT_TRUE(nobody->wait_for_close());

  const std::string good = server_.make_key(http::Access::kRead);
  const auto theirs = open_with(leaked);
  const auto ours = open_with(good);
  ApiKeys keys = server_.keys();
  ASSERT_TRUE(keys.revoke(id_of_key(leaked)).has_value());
  // Without being told.
  EXPECT_FALSE(theirs->next_event().has_value());
  EXPECT_TRUE(theirs->wait_for_close());
  append("two");
  EXPECT_EQ(ours->next_event()->id, "2");
}

TEST_F(HttpStreams, WhatIsWaitedForIsNotToldToAKeyThatWasRevoked) {
  TestServer::Setup setup = with_test_routes();
  std::atomic<bool> waits{false};
  setup.more_routes[0].routes.push_back(
      route("GET", "/test/never", "never", http::Access::kRead,
            [&](Service&, http::Request&) -> http::Reply {
              http::Waiting waiting;
              waiting.topics = {Topic::all()};
              waiting.poll = [&]() -> tl::expected<std::optional<http::Response>, http::Problem> {
                waits = true;
                return std::optional<http::Response>();
              };
              return http::wait_for(std::move(waiting));
            }));
  TestServer server(std::move(setup));
  const std::string key = server.make_key(http::Access::kRead);
  HttpConnection waiting(server.port());
  waiting.send_request("GET", "/test/never", {}, {{"X-Api-Key", key}});
  while (!waits) std::this_thread::sleep_for(1ms);
  ApiKeys keys = server.keys();
  ASSERT_TRUE(keys.revoke(id_of_key(key)).has_value());
  EXPECT_EQ(waiting.read_answer().status, 401);
}

TEST_F(HttpStreams, WhoeverWorksOnAnAnswerElsewhereEndsWithTheServerAndIsHeard) {
  TestServer::Setup setup = with_test_routes();
  std::stop_source stop;
  std::atomic<bool> begun{false};
  std::jthread elsewhere;
  setup.more_routes[0].routes.push_back(
      route("GET", "/test/elsewhere", "elsewhere", http::Access::kRead,
            [&](Service&, http::Request&) -> http::Reply {
              return http::answer_later([&](const http::Answer& answer) {
                elsewhere = std::jthread([&, answer] {
                  while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
                  answer(http::json_response(std::string("\"stopped\"")));
                });
                begun = true;
              });
            }));
  setup.more_routes[0].stop = [&] {
    stop.request_stop();
    elsewhere = {};
  };
  TestServer server(std::move(setup));
  HttpConnection connection(server.port());
  connection.send_request("GET", "/test/elsewhere");
  while (!begun) std::this_thread::sleep_for(1ms);
  server.server().stop();
  EXPECT_FALSE(elsewhere.joinable());
  EXPECT_EQ(connection.read_answer().body, "\"stopped\"");
}

class Throwing final : public http::Stream {
 public:
  std::vector<Topic> topics() const override { return {Topic::all()}; }
  Result<Pulled> pull(std::size_t /*max_bytes*/) override { throw std::runtime_error("pulled"); }
  void abandoned() override { throw std::runtime_error("abandoned"); }
};

TEST_F(HttpStreams, WhateverIsThrownByThemIsTheEndOfThatRequestAlone) {
  TestServer::Setup setup = with_test_routes();
  const auto add = [&](const char* name, http::Handler handler) {
    setup.more_routes[0].routes.push_back(
        route("GET", std::string("/test/") + name, name, http::Access::kRead, std::move(handler)));
  };
  using Polled = tl::expected<std::optional<http::Response>, http::Problem>;
  add("stream", [](Service&, http::Request&) -> http::Reply {
    return http::stream_response(std::make_unique<Throwing>());
  });
  add("polled", [](Service&, http::Request&) -> http::Reply {
    return http::wait_for(
        {.topics = {Topic::all()}, .poll = []() -> Polled { throw std::runtime_error("polled"); }});
  });
  add("late", [](Service&, http::Request&) -> http::Reply {
    return http::wait_for({.topics = {Topic::all()},
                           .poll = [] { return Polled(std::nullopt); },
                           .timeout = 1ms,
                           .late = []() -> http::Reply { throw std::runtime_error("late"); }});
  });
  TestServer server(std::move(setup));
  HttpConnection reader(server.port());
  reader.send_request("GET", "/test/stream");
  EXPECT_EQ(reader.read_head().status, 200);
  const auto told = reader.next_event();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->type, "error");
  EXPECT_EQ(server.ask("GET", "/test/polled").status, 500);
  EXPECT_EQ(server.ask("GET", "/test/late").status, 500);
  EXPECT_EQ(server.ask("GET", "/healthz").status, 200);
}

// A run would have its time; who only waits for news is not kept waiting for that.
TEST_F(HttpStreams, WhoWaitsForChangesIsAnsweredAsSoonAsTheServerStops) {
  TestServer::Setup setup = with_test_routes();
  std::atomic<bool> told{false};
  std::atomic<bool> begun{false};
  setup.more_routes[0].routes.push_back(route("GET", "/test/busy", "busy", http::Access::kRead,
                                              [&](Service&, http::Request&) -> http::Reply {
                                                begun = true;
                                                while (!told) std::this_thread::sleep_for(1ms);
                                                return http::json_response(std::string("\"done\""));
                                              }));
  TestServer server(std::move(setup));
  HttpConnection busy(server.port());
  busy.send_request("GET", "/test/busy");
  HttpConnection news(server.port());
  news.send_request("GET", "/v1/events?since=now&waitMs=60000");
  while (!begun ||
         server.ask("GET", "/metrics").body.find("\nskein_http_streams 1\n") == std::string::npos) {
    std::this_thread::sleep_for(1ms);
  }
  std::jthread stopping([&] { server.server().stop(); });
  EXPECT_EQ(news.read_answer().status, 503);
  told = true;
  EXPECT_EQ(busy.read_answer().body, "\"done\"");
}

}  // namespace
}  // namespace skein::test
